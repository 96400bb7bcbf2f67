"""What an import was given, what it found, and in which output."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from zsim.observe.devices.models import Model
from zsim.observe.evidence.pool_events import PoolEvents
from zsim.observe.evidence.pool_history import PoolHistory
from zsim.observe.evidence.pool_iostat import PoolSpace
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.pool_import.given.pasted_forms import UNKNOWN
from zsim.observe.zdb.configuration import PoolConfig
from zsim.observe.zpool.commands import BuiltPool
from zsim.observe.zpool.listing import PoolList
from zsim.observe.zpool.status import PoolStatus
from zsim.scenario.releases.profile import DEFAULT_RELEASE, ReleaseProfile, load_release


@dataclass(frozen=True, slots=True)
class Finding:
    """A field of the scenario and what it was taken from.

    Attributes
    ----------
    field : str
    value : object
        In SI, as `Scenario` takes it.
    source : str
        Which output tells it.
    inferred : bool
        Whether it is concluded from signs rather than read.
    """

    field: str
    value: object
    source: str
    inferred: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return asdict(self)


@dataclass(slots=True)
class PoolOutputs:
    """The outputs about one pool, and what was concluded from them so far.

    Attributes
    ----------
    files : PoolFiles
    status, listed, config : None where there is no such output
    findings : dict of str to Finding
        By field of the scenario.
    notes : list of str
        Sentences about what could not be used.
    statuses : list of PoolStatus
        All statuses of the pool, in order of time.
    histories, events : list
        What ``zpool history -i`` and ``zpool events`` tell of it.
    named_size, new_named_size : int or None
        Capacity of the drives, and of those that replace, by their names [bytes].
    named_sizes : tuple of int
        All capacities that the names of the drives tell [bytes].
    named_source, new_named_source : str
    larger : dict of str to Model
        Drives that are larger than the smallest of their vdev, by their names.
    layout_beside : str or None
        What is stated beside the outputs, where these do not show the vdevs.
    """

    files: PoolFiles
    status: PoolStatus | None = None
    listed: PoolList | None = None
    config: PoolConfig | None = None
    findings: dict[str, Finding] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    statuses: list[PoolStatus] = field(default_factory=list)
    histories: list[PoolHistory] = field(default_factory=list)
    events: list[PoolEvents] = field(default_factory=list)
    named_size: int | None = None
    named_sizes: tuple[int, ...] = ()
    named_source: str = ""
    new_named_size: int | None = None
    new_named_source: str = ""
    larger: dict[str, Model] = field(default_factory=dict)
    layout_beside: str | None = None

    def find(self, name: str, value: object, source: str, *, inferred: bool = False) -> None:
        """Note a field, unless it is known already or the value is None."""
        if value is not None:
            self.findings.setdefault(name, Finding(name, value, source, inferred))

    def value(self, name: str) -> object:
        """Return what was found for a field, or None."""
        found = self.findings.get(name)
        return found.value if found is not None else None

    def text(self, name: str) -> str | None:
        """Return what was found for a field that is a name, or None."""
        found = self.value(name)
        return found if isinstance(found, str) else None

    @property
    def release(self) -> ReleaseProfile:
        """The release found so far, or the one that is taken where none is shown."""
        return load_release(self.text("release") or DEFAULT_RELEASE)

    @property
    def seen_space(self) -> PoolSpace | None:
        """What ``zpool iostat`` shows of the space of the pool, where ``zpool list`` does not."""
        named = {each.name for each in (self.status, self.config) if each is not None and each.name}
        shown = self.files.of(PoolSpace) if self.listed is None else []
        return next((each for each in shown if each.name in named or named <= {UNKNOWN}), None)

    @property
    def built(self) -> BuiltPool | None:
        """The pool as the commands of its history have made it."""
        named = {each.name for each in (self.status, self.listed, self.config) if each is not None}
        made = self.files.of(BuiltPool)
        return next((each for each in made if each.name in named or named <= {UNKNOWN}), None)

    def size(self, name: str) -> int | None:
        """Return what was found for a field that is a size [bytes], or None."""
        found = self.value(name)
        return int(found) if isinstance(found, int | float) else None
