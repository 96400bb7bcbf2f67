"""The activity of drives, averaged over the samples of a table that was printed several times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zsim.scenario.evidence import DriveActivity

FIELDS = (
    "reads", "writes", "read_rate", "write_rate", "busy", "service", "queue", "read_request",
    "write_request", "step",
)  # fmt: skip
MOST_SAMPLES = 20_000
MOST_DRIVES = 4096


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """One drive in one sample.

    Attributes
    ----------
    values : mapping of str to float
        Fields of `DriveActivity` in SI; ``count``: of how many requests they are the mean.
    """

    values: Mapping[str, float]


@dataclass(slots=True)
class Samples:
    """Samples of one command, in order.

    Attributes
    ----------
    command : str
        ``zpool iostat`` or ``iostat -x``.
    samples : list of dict of str to Row
        By drive.
    from_boot : bool
        Whether the first one is the mean since the host was started.
    """

    command: str
    samples: list[dict[str, ActivityRow]] = field(default_factory=list)
    from_boot: bool = True

    def begin(self) -> None:
        """Begin another sample, unless the last one is empty."""
        if (not self.samples or self.samples[-1]) and len(self.samples) < MOST_SAMPLES:
            self.samples.append({})

    def put(self, name: str, values: Mapping[str, float]) -> None:
        """Note a drive; one that is there already begins another sample."""
        if not self.samples or name in self.samples[-1]:
            self.begin()
        if len(self.samples[-1]) < MOST_DRIVES:
            self.samples[-1][name] = ActivityRow(values)

    @property
    def usable(self) -> list[dict[str, ActivityRow]]:
        """The samples that show a time of their own rather than all since the start of the host."""
        full = [sample for sample in self.samples if sample]
        return full[1:] if self.from_boot else full

    def means(self) -> list[DriveActivity]:
        """Return the mean of every drive over the samples that are usable."""
        samples = self.usable
        names = list(dict.fromkeys(name for sample in samples for name in sample))
        return [self._mean(name, [sample[name] for sample in samples if name in sample]) for name in names]

    def _mean(self, name: str, rows: Sequence[ActivityRow]) -> DriveActivity:
        found = {key: mean_of(rows, key) for key in FIELDS if key != "service"}
        found["service"] = _mean_service(rows)
        if found["busy"] is not None:
            found["busy"] = min(found["busy"], 1.0)
        source = f"{self.command}, mean of {len(rows)} sample{'s' if len(rows) > 1 else ''}"
        return DriveActivity(drive=name, source=source, **_known(found))


def _known(found: Mapping[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in found.items() if value is not None}


def mean_of(rows: Sequence[ActivityRow], key: str) -> float | None:
    """Return the mean of one field, None where no row has it."""
    known = [row.values[key] for row in rows if key in row.values]
    return math.fsum(known) / len(known) if known else None


def _mean_service(rows: Sequence[ActivityRow]) -> float | None:
    """Return the mean time of an operation, samples weighed by how many operations they have [s]."""
    return _mean_by_count(
        [(row.values["service"], _operations(row)) for row in rows if "service" in row.values]
    )


def _mean_by_count(known: Sequence[tuple[float, float]]) -> float | None:
    """Return the mean of times by the number of operations that took each; None where there are none."""
    total = math.fsum(count for _, count in known)
    return math.fsum(time * count for time, count in known) / total if total else None


def _operations(row: ActivityRow) -> float:
    return row.values.get("count", row.values.get("reads", 0.0) + row.values.get("writes", 0.0))


def weighted(read: tuple[float | None, float], write: tuple[float | None, float]) -> float | None:
    """Return the mean of (time, operations) of reads and writes; None where neither has both."""
    return _mean_by_count([(time, count) for time, count in (read, write) if time is not None and count > 0])


def summed(
    cells: Mapping[str, str], wanted: Callable[[str], bool], read: Callable[[str], float | None]
) -> float | None:
    """Return the sum of the columns that are wanted, None where none can be read."""
    known = [value for name, text in cells.items() if wanted(name) and (value := read(text)) is not None]
    return math.fsum(known) if known else None
