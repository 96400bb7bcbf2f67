"""The records of an answer: how long, how certain, what the time is spent on, what would change it.

They are plain data; how they read is in `zsim.prediction.answer.wording`, how they look in
`zsim.prediction.answer.drawing`.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from zsim.scenario.messages import SaidInOneSentence

SCHEMA_VERSION = 1
VERIFYING_SCRUB = "verifying scrub"


def _rounded_share(value: object) -> object:
    """Take 1 for what exceeds it by rounding alone."""
    return 1.0 if isinstance(value, float) and 1.0 < value < 1.0 + 1e-9 else value


Share = Annotated[float, BeforeValidator(_rounded_share), Field(ge=0, le=1)]
"""A number from 0 to 1."""


BEYOND = "times what the drives can do together"
"""How a warning says that a load asks for more than there is."""


class AnswerPart(SaidInOneSentence):
    """Base of everything in a prediction: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_dict(self) -> dict[str, object]:
        """Return plain dictionaries, lists and numbers, ready for ``json.dump``."""
        return self.model_dump(mode="json")


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
    sampled: bool = Field(
        default=True, description="whether the interval contains it; if not, what it would do"
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
    effective_members: float | None = Field(
        default=None,
        ge=0,
        description="equally weighted ones that would carry as much information as all after the evidence",
    )
    drivers: tuple[Driver, ...] = Field(default=(), description="unknown inputs, the strongest first")


class Phase(AnswerPart):
    """A stretch of the operation with physics of its own (metadata scan, issue, tail, following scrub)."""

    name: str
    start_s: float = Field(default=0.0, ge=0, description="[s] after the start")
    duration_s: float = Field(ge=0, description="[s]")
    read_bytes: int = Field(default=0, ge=0)
    written_bytes: int = Field(default=0, ge=0)
    bound_by: str = Field(default="", description="the resource that sets its pace")
    busy: dict[str, Share] = Field(
        default_factory=dict, description="share of the phase that drives are busy, by their role in `leaves`"
    )


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
    half_width_s: float | None = Field(
        default=None,
        ge=0,
        description="half of the 95 % confidence interval of its p50 [s]; null: one simulated pool tells",
    )
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


class SickDrive(AnswerPart):
    """A drive that is stated to be slow, badly attached or to have bad sectors, and what it costs."""

    drive: int = Field(ge=0, description="counted from 0 in the order of the layout")
    name: str = Field(description="its model, and what is wrong with it")
    utilisation: float = Field(ge=0, le=1, description="busy share")
    sets_pace: bool = Field(description="whether the operation would be notably shorter were it sound")
    sound_s: float = Field(ge=0, description="duration were it as good as its peers [s]")
    offline_s: float | None = Field(
        default=None, description="duration if it is taken offline; None: its vdev cannot do without it [s]"
    )
    sits_out: bool = Field(default=False, description="whether autosit takes it out of the reads")
    errors: int = Field(default=0, ge=0, description="reads that fail")
    error_s: float = Field(default=0.0, ge=0, description="what one of them takes [s]")
    lost_s: float = Field(default=0.0, ge=0, description="what all of them take [s]")
    faulted_s: float | None = Field(
        default=None, description="when it is faulted for errors [s after the start]"
    )
    faulted_by: str = Field(default="", description="who faults it, and after how many errors")
    unreadable: int = Field(
        default=0, ge=0, description="blocks of files that are lost: nothing is left to rebuild them from"
    )
    left: int = Field(default=0, ge=0, description="drives that its vdev can lose beside it")


class Waits(AnswerPart):
    """How long requests wait: percentiles, each right to 3 %, and the longest [s]."""

    p50: float = Field(ge=0, description="half of the requests wait no longer [s]")
    p90: float = Field(ge=0, description="nine in ten [s]")
    p99: float = Field(ge=0, description="99 in a hundred [s]")
    max: float = Field(ge=0, description="the longest of those simulated [s]")


class Clients(AnswerPart):
    """What one kind of foreground clients sees of the operation: mean latencies and their percentiles."""

    kind: str = Field(description="random-read, sequential-read or sync-write")
    rate: float = Field(
        ge=0,
        description="requests answered during the operation; of a file whose requests are smaller than "
        "records, the records read ahead for them [1/s]",
    )
    before_s: float = Field(ge=0, description="latency before it starts, on the damaged pool [s]")
    during_s: float = Field(ge=0, description="latency while it runs [s]")
    after_s: float = Field(ge=0, description="latency on the repaired pool [s]")
    before: Waits | None = Field(default=None, description="percentiles before it starts")
    during: Waits | None = Field(default=None, description="percentiles while it runs")
    after: Waits | None = Field(default=None, description="percentiles on the repaired pool")


class EvidenceUsed(AnswerPart):
    """One thing that the pool has already shown, against what the possible worlds show."""

    kind: str = Field(description="scrub, resilver, read rate of the source drives, ...")
    when: str = Field(default="", description="the day, if it is known")
    unit: str = Field(default="s", description="of observed and expected: s, B/s, 1/s, or 1 for a share")
    observed: float | None = Field(ge=0, description="null: it shows no value of its own")
    expected: float | None = Field(default=None, ge=0, description="median over the simulated worlds")
    expected_p10: float | None = Field(default=None, ge=0)
    expected_p90: float | None = Field(default=None, ge=0)
    weight: Share = Field(description="probability that it has to do with what is simulated; 0: not used")
    narrows: float = Field(
        default=0.0, le=1, description="by how much p10-p90 is narrower with it (of its logarithm)"
    )
    note: str = Field(default="", description="what no world explains, or why it is not used")


class Stated(AnswerPart):
    """A field of the scenario as it was stated."""

    field: str
    value: JsonValue = Field(description="what was stated, in SI units")
    text: str = Field(description="the value in the units a person states it in")


class Assumption(AnswerPart):
    """A value that was simulated because the scenario does not say."""

    field: str
    value: JsonValue = Field(description="what the world shown in detail has, in SI units")
    text: str = Field(default="", description="the value as a person reads it")
    sampled: str = Field(default="", description="over what the other worlds vary it; empty: over nothing")
    why: str


class Answer(AnswerPart):
    """All of an answer.

    Notes
    -----
    Durations are in seconds, sizes in bytes, rates in bytes per second.  Byte counts are the sums over all
    leaves at the drives' interfaces; ``resilvered_bytes`` is what ``zpool status`` reports as resilvered.
    """

    schema_version: Literal[1] = 1
    subject: str = Field(default="", description="what was asked, in one line")
    operation: Literal["resilver", "scrub", "rebuild", "expand", "remove"] = "resilver"
    order: str = Field(default="", description="scan order simulated: legacy, sorted, ...")
    resilver_s: Quantiles = Field(description="the answer [s]")
    uncertainty: Uncertainty | None = None
    stated: tuple[Stated, ...] = Field(default=(), description="what was stated, in the order of the fields")
    unloaded_s: float | None = Field(
        default=None, ge=0, description="the answer without the stated load, where there is one [s]"
    )
    missing: tuple[str, ...] = Field(
        default=(),
        description="what nothing names or bounds, that is sampled over its whole range, and its flag",
    )
    phases: tuple[Phase, ...] = ()
    resilvered_bytes: int = Field(ge=0)
    read_bytes: int = Field(ge=0)
    written_bytes: int = Field(default=0, ge=0)
    mapping_bytes: int | None = Field(
        default=None, ge=0, description="of a removal: memory that the mapping of moved blocks takes"
    )
    io_count: int = Field(ge=0, description="child I/Os entering the leaf queues, before aggregation")
    bottleneck: Bottleneck
    leaves: tuple[Leaf, ...] = ()
    leaves_of_s: float | None = Field(
        default=None, ge=0, description="how long the run took that the leaves are rows of: one world [s]"
    )
    breakdown: dict[str, float] = Field(
        default_factory=dict, description="cause: seconds; sums to the answer"
    )
    breakdown_of: str = Field(default="", description="the resource whose time the causes divide")
    sick: tuple[SickDrive, ...] = Field(
        default=(), description="drives stated to be slow, badly attached or to have bad sectors"
    )
    clients: tuple[Clients, ...] = Field(
        default=(), description="what foreground clients see, one row a kind"
    )
    alternatives: tuple[Alternative, ...] = ()
    progress: tuple[ProgressPoint, ...] = ()
    advice: tuple[Advice, ...] = Field(default=(), description="what to change, the most useful first")
    advised: bool = Field(default=False, description="whether it was tried what changes save")
    warnings: tuple[str, ...] = ()
    evidence: tuple[EvidenceUsed, ...] = Field(
        default=(), description="what the pool has already shown, and how far it narrows the answer"
    )
    assumptions: tuple[Assumption, ...] = ()
    provenance: dict[str, JsonValue] = Field(
        default_factory=dict, description="resolved scenario, seed, versions, hashes of models and kernels"
    )


def share_of_total(parts: dict[str, float]) -> dict[str, float]:
    """Return each part as a share of their sum, the largest first; empty if the sum is not positive."""
    total = math.fsum(parts.values())
    if total <= 0:
        return {}
    return {name: value / total for name, value in sorted(parts.items(), key=lambda item: -item[1])}
