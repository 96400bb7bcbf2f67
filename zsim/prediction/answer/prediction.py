"""The answer: how long, how sure, what the time is spent on, what would change it, and on what grounds.

A `Prediction` is plain data; how it reads is in `zsim.prediction.answer.wording`, how it looks in
`zsim.prediction.answer.drawing`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from zsim.base.errors import InputError
from zsim.base.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA_VERSION = 1
VERIFYING_SCRUB = "verifying scrub"


def _rounded_share(value: Any) -> Any:
    """Take 1 for what exceeds it by rounding alone."""
    return 1.0 if isinstance(value, float) and 1.0 < value < 1.0 + 1e-9 else value


Share = Annotated[float, BeforeValidator(_rounded_share), Field(ge=0, le=1)]
"""A number from 0 to 1."""


class AnswerPart(BaseModel):
    """Base of everything in a prediction: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Quantiles(AnswerPart):
    """A duration with its interval [s]; ``p10`` and ``p90`` are None as long as they are not computed."""

    p10: float | None = Field(default=None, ge=0, description="one time in ten it is shorter [s]")
    p50: float = Field(ge=0, description="as often shorter as longer [s]")
    p90: float | None = Field(default=None, ge=0, description="one time in ten it is longer [s]")

    @model_validator(mode="after")
    def _rising(self) -> Self:
        known = [value for value in (self.p10, self.p50, self.p90) if value is not None]
        if known != sorted(known):
            raise ValueError("p10, p50 and p90 must not fall")
        return self

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval are known."""
        return self.p10 is not None and self.p90 is not None


class Driver(AnswerPart):
    """An input that nobody stated, and how far it moves the answer on its own."""

    field: str = Field(description="the scenario's field")
    low_s: float = Field(ge=0, description="duration at the favourable end of its distribution [s]")
    high_s: float = Field(ge=0, description="duration at the unfavourable end [s]")
    narrows: float = Field(
        default=0.0, ge=0, le=1, description="by how much p10-p90 narrows once it is known (of its logarithm)"
    )
    words: str = Field(default="", description="what stating it would bring, in a person's words")


class Uncertainty(AnswerPart):
    """Where the interval comes from: the sampled simulation, or inputs that were not stated."""

    sampling_half_width_s: float | None = Field(
        default=None, ge=0, description="half of the 95 % confidence interval of the sampled simulation [s]"
    )
    input_s: Quantiles | None = Field(
        default=None, description="quantiles due to the unknown inputs alone [s]"
    )
    members: int = Field(default=1, ge=1, description="scenarios run")
    drivers: tuple[Driver, ...] = Field(default=(), description="unknown inputs, the strongest first")


class Phase(AnswerPart):
    """A stretch of the operation with physics of its own (metadata scan, issue, tail, following scrub)."""

    name: str
    start_s: float = Field(default=0.0, ge=0, description="[s] after the start")
    duration_s: float = Field(ge=0, description="[s]")
    read_bytes: int = Field(default=0, ge=0)
    written_bytes: int = Field(default=0, ge=0)
    bound_by: str = Field(default="", description="the resource that sets its pace")


class Bottleneck(AnswerPart):
    """The resource that sets the pace."""

    resource: str
    utilisation: Share = Field(description="share of the time it is busy")
    why: str = Field(default="", description="one sentence")
    without_it_s: float | None = Field(
        default=None, ge=0, description="duration if this resource were infinitely fast [s]"
    )


class Leaf(AnswerPart):
    """Drives of one role, each doing about the same: means over the operation and per drive."""

    role: str = Field(description="source, target, spare, walked, ...")
    name: str = Field(default="", description="drive model, or the leaf's name")
    count: int = Field(default=1, ge=1, description="drives that this row stands for")
    utilisation: Share = Field(description="share of the time the drive is busy")
    mean_io_bytes: float = Field(ge=0, description="after aggregation")
    iops: float = Field(ge=0, description="reads and writes a second, after aggregation")
    mean_service_ms: float = Field(ge=0, description="[ms] at the drive")
    queue: float = Field(
        ge=0, description="mean number of requests at the drive, the one in service included"
    )
    read_rate: float = Field(default=0.0, ge=0, description="[B/s]")
    write_rate: float = Field(default=0.0, ge=0, description="[B/s]")


class Alternative(AnswerPart):
    """The same scenario with one thing different, usually the other scan order."""

    name: str = Field(description="legacy, sorted, rebuild, ...")
    resilver_s: Quantiles
    note: str = ""


class ProgressPoint(AnswerPart):
    """What is done at one moment, and what ``zpool status`` would show."""

    time_s: float = Field(ge=0, description="[s] after the start")
    fraction: Share = Field(description="share of the bytes to issue that are issued")
    scanned_bytes: int | None = Field(default=None, ge=0)
    issued_bytes: int | None = Field(default=None, ge=0)
    resilvered_bytes: int | None = Field(default=None, ge=0)
    zpool_eta_s: float | None = Field(
        default=None, ge=0, description="time to go as zpool status would say [s]"
    )
    position: float | None = Field(
        default=None, ge=0, le=1, description="where the heads are, share of the leaf's LBAs"
    )


class Advice(AnswerPart):
    """Something to change, and what it brings."""

    action: str
    saves_s: float | None = Field(default=None, description="expected gain [s], if it was computed")
    why: str = ""


class Clients(AnswerPart):
    """What one kind of foreground clients sees of the operation: mean latencies of their requests."""

    kind: str = Field(description="random-read, sequential-read or sync-write")
    rate: float = Field(ge=0, description="requests answered during the operation [1/s]")
    before_s: float = Field(ge=0, description="latency before it starts, on the damaged pool [s]")
    during_s: float = Field(ge=0, description="latency while it runs [s]")
    after_s: float = Field(ge=0, description="latency on the repaired pool [s]")


class Assumption(AnswerPart):
    """A default that was used because the scenario does not say."""

    field: str
    value: JsonValue = Field(description="what was taken, in SI units")
    text: str = Field(default="", description="the value as a person reads it")
    why: str


class Prediction(AnswerPart):
    """What `zsim.prediction` returns.

    Notes
    -----
    Durations are in seconds, sizes in bytes, rates in bytes per second.  Byte counts are the sums over all
    leaves at the drives' interfaces; ``resilvered_bytes`` is what ``zpool status`` reports as resilvered.
    """

    schema_version: Literal[1] = 1
    subject: str = Field(default="", description="what was asked, in one line")
    operation: Literal["resilver", "scrub", "rebuild"] = "resilver"
    order: str = Field(default="", description="scan order simulated: legacy, sorted, ...")
    resilver_s: Quantiles = Field(description="the answer [s]")
    uncertainty: Uncertainty | None = None
    phases: tuple[Phase, ...] = ()
    resilvered_bytes: int = Field(ge=0)
    read_bytes: int = Field(ge=0)
    written_bytes: int = Field(default=0, ge=0)
    io_count: int = Field(ge=0, description="child I/Os entering the leaf queues, before aggregation")
    bottleneck: Bottleneck
    leaves: tuple[Leaf, ...] = ()
    breakdown: dict[str, float] = Field(
        default_factory=dict, description="cause: seconds; sums to the answer"
    )
    clients: tuple[Clients, ...] = Field(
        default=(), description="what foreground clients see, one row a kind"
    )
    alternatives: tuple[Alternative, ...] = ()
    progress: tuple[ProgressPoint, ...] = ()
    advice: tuple[Advice, ...] = Field(default=(), description="what to change, the most useful first")
    warnings: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    provenance: dict[str, JsonValue] = Field(
        default_factory=dict, description="resolved scenario, seed, versions, hashes of models and kernels"
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as plain dictionaries, lists and numbers, ready for ``json.dump``."""
        return self.model_dump(mode="json")

    def to_json(self, indent: int | None = 2) -> str:
        """Return the prediction as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Any, origin: str = "prediction") -> Self:
        """Build a prediction from what `to_dict` gave.

        Parameters
        ----------
        data : dict
            The plain dictionary.
        origin : str
            What to call it in a message, for instance the file's name.

        Raises
        ------
        InputError
            If the data is of another schema version or is not a prediction.
        """
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version != SCHEMA_VERSION:
            raise InputError(
                f"{origin}: schema_version",
                version,
                str(SCHEMA_VERSION),
                "predict again with this release of zsim",
            )
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            allowed = f"a value of which zsim does not say '{first['msg']}'"
            raise InputError(f"{origin}: {field}", first["input"], allowed, "predict again") from error

    @classmethod
    def from_json(cls, text: str, origin: str = "prediction") -> Self:
        """Build a prediction from JSON text; see `from_dict` for what is raised."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            shown = text[:40].strip()
            raise InputError(
                origin, shown, "JSON as 'zsim predict --json' prints it", "predict again"
            ) from error
        return cls.from_dict(data, origin)

    def save(self, path: str | Path) -> None:
        """Write the prediction as JSON; the file appears whole or not at all."""
        replace_file(path, (self.to_json() + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a prediction written by `save`; see `from_dict` for what is raised."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                "file", str(path), "a readable result file", f"check the path ({error})"
            ) from error
        return cls.from_json(text, str(path))

    def __str__(self) -> str:
        """Return the answer in words, as ``zsim predict`` prints it without colour."""
        from zsim.prediction.answer.wording import as_text

        return as_text(self)

    def __rich__(self) -> Any:
        """Return the answer as a rich renderable."""
        from zsim.prediction.answer.wording import as_renderable

        return as_renderable(self)

    def _repr_html_(self) -> str:
        from zsim.prediction.answer.wording import as_html

        return as_html(self)

    def plot(self) -> Figure:
        """Return a matplotlib figure: progress, how busy the drives are, and where the time goes."""
        from zsim.prediction.answer.drawing import figure

        return figure(self)

    def save_plot(self, path: str | Path) -> None:
        """Write the figure of `plot`; the ending (.svg, .png or .pdf) decides the format.

        Raises
        ------
        InputError
            If the ending is none of these, or the directory does not exist.
        """
        from zsim.prediction.answer.drawing import save

        save(self.plot(), path)


class PredictionInterrupted(KeyboardInterrupt):
    """Ctrl-C during a prediction; carries what was known by then.

    Attributes
    ----------
    partial : Prediction or None
        The answer so far, with the wider interval that it has; None if there is none yet.
    """

    def __init__(self, partial: Prediction | None = None) -> None:
        super().__init__()
        self.partial = partial


def share_of_total(parts: dict[str, float]) -> dict[str, float]:
    """Return each part as a share of their sum, the largest first; empty if the sum is not positive."""
    total = math.fsum(parts.values())
    if total <= 0:
        return {}
    return {name: value / total for name, value in sorted(parts.items(), key=lambda item: -item[1])}
