"""A plan: a pool, and events at times, at shares of progress, or on conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from numbers import Real
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from zsim.base.errors import InputError
from zsim.base.model_data import load_toml
from zsim.base.units import parse_duration, parse_fraction
from zsim.scenario.field_types import Bytes, DriveBytes, Fraction, Seconds
from zsim.scenario.layout import MAX_VDEVS, Layout
from zsim.scenario.messages import input_error
from zsim.scenario.model import Scenario

Action = Literal[
    "fail",
    "replace",
    "attach",
    "detach",
    "offline",
    "online",
    "unreadable-block",
    "free-block",
    "reboot",
    "scrub",
    "pause-scrub",
    "resume-scrub",
    "stop-scrub",
    "resilver",
    "set",
    "checkpoint",
    "discard-checkpoint",
    "expand",
    "remove",
    "split",
]
Condition = Literal[
    "quiet",
    "whole",
    "pass ends",
    "resilver ends",
    "rebuild ends",
    "scrub ends",
    "expansion ends",
    "removal ends",
]
NEW_DRIVE = ("new_drive", "new_drive_size")
NEEDS_DRIVE = frozenset({"fail", "replace", "offline", "online"})


class Moment(BaseModel):
    """When: so long after the beginning, or when so much of the pass that runs is done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time_s: float | None = Field(None, ge=0, description="[s] after the beginning")
    share: float | None = Field(None, ge=0, le=1, description="share done of the pass that runs")


def _moment(value: object) -> object:
    if value is None or isinstance(value, Moment | Mapping):
        return value
    if isinstance(value, str) and value.strip().endswith("%"):
        return Moment(share=parse_fraction(value, "at"))
    if not isinstance(value, str | Real | timedelta):
        raise InputError("at", value, "it is a duration such as 5h, or a share such as 40%", "write 5h")
    return Moment(time_s=parse_duration(value if isinstance(value, str | timedelta) else float(value), "at"))


MomentField = Annotated[
    Moment,
    BeforeValidator(_moment),
    WithJsonSchema({
        "anyOf": [{"type": "string"}, {"type": "number"}],
        "examples": ["5h", "40%"],
        "description": "time after the beginning, or share done of the pass that runs",
    }),
]  # fmt: skip


MOST_EVENTS = 200


def plain_scenario(value: object) -> object:
    """Return a scenario as the mapping of what it states; anything else as it is."""
    return value.stated() if isinstance(value, Scenario) else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _one_sentence(cls, data: object, handler: Callable[[object], Self]) -> Self:
        """Turn what pydantic finds into an `InputError`."""
        try:
            return handler(data)
        except ValidationError as error:
            raise input_error(error, cls.model_fields) from None


class Event(_Part):
    """Something that happens.

    ``at`` with a time counts from the beginning; all else (a share, ``when``, ``after``) is looked at once
    the event before it in the list has happened; with nothing the event follows that one at once.
    """

    do: Action = Field(description="what happens")
    at: MomentField | None = Field(None, description="5h after the beginning, or 40% of the pass that runs")
    after: Seconds | None = Field(None, ge=0, description="so long after the event before it")
    when: Condition | None = Field(
        None, description="once no pass runs or waits (quiet), the pool is whole, or a pass ends"
    )
    vdev: int = Field(0, ge=0, description="top-level vdev, counted from 0")
    drive: int | None = Field(None, ge=0, description="drive of the vdev, counted from 0")
    drives: tuple[int, ...] = Field((), description="several drives at once, in one command line")
    each: bool = Field(False, description="once for every drive of the vdev, at_once at a time")
    sequential: bool = Field(False, description="replace or attach with a sequential rebuild (-s)")
    to: Literal["new-drive", "distributed-spare"] = Field("new-drive", description="what replaces the drive")
    new_drive: str | None = Field(None, min_length=1, description="model of the replacement, if another")
    new_drive_size: DriveBytes | None = Field(None, gt=0, description="capacity of the replacement")
    takes: Seconds = Field(300.0, ge=0, description="how long a reboot (or export and import) takes")
    clean: bool = Field(True, description="export and import, or a clean reboot; false: a crash")
    set: dict[str, object] = Field({}, description="fields of the scenario from now on: load, tunables, ...")

    @field_validator("drives", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, int) else value

    @property
    def numbers(self) -> tuple[int, ...]:
        """The drives it is about."""
        return self.drives or (() if self.drive is None else (self.drive,))


class Beside(_Part):
    """Drives of another vdev that the running pass fills too."""

    vdev: int = Field(ge=0, description="top-level vdev, counted from 0")
    drives: tuple[int, ...] = Field(min_length=1, description="drives that are being replaced")
    old_drive: Literal["missing", "online"] = Field("missing", description="whether the old ones still work")


class Running(_Part):
    """The pass that runs when the timeline begins."""

    vdev: int = Field(0, ge=0, description="top-level vdev, counted from 0")
    drives: tuple[int, ...] = Field((0,), description="drives that are being replaced")
    kind: Literal["resilver", "rebuild", "scrub"] = "resilver"
    done: Fraction = Field(0.0, description="share done: 35%")
    old_drive: Literal["missing", "online"] = Field("missing", description="whether the old ones still work")
    waiting: tuple[int, ...] = Field((), description="drives that await a resilver, the old ones gone")
    missing: int = Field(0, ge=0, description="further drives of the vdev that are gone, and stay so")
    beside: tuple[Beside, ...] = Field((), description="drives of other vdevs that the same pass fills")
    left: tuple[Seconds, Seconds, Seconds] | None = Field(
        None,
        description="p10, p50 and p90 of the time left, as zsim eta estimates it from the progress",
    )
    elapsed: Seconds | None = Field(None, ge=0, description="with left: for how long it has run")


def _check_event(event: Event, layout: Layout, where: str) -> None:
    """Refuse an event that this pool cannot have."""
    if event.vdev >= len(layout.vdevs):
        allowed = f"the pool has {len(layout.vdevs)} top-level vdevs, counted from 0"
        raise InputError(f"{where}.vdev", event.vdev, allowed, "name one of them")
    vdev = layout.vdevs[event.vdev]
    for number in event.numbers:
        if not 0 <= number < vdev.children:
            allowed = f"{vdev} has {vdev.children} drives, counted from 0"
            raise InputError(f"{where}.drive", number, allowed, "name one of them")
    if event.do in NEEDS_DRIVE and not event.numbers and not event.each:
        raise InputError(f"{where}.drive", None, f"{event.do} is about a drive", "add drive = 0")
    if event.do == "set" and not event.set:
        raise InputError(f"{where}.set", None, "it says what changes", "add set = { ... }")
    beside = [name for name in ("after", "when") if getattr(event, name) is not None]
    if event.at is not None and beside:
        name = f"{where}.{beside[0]}"
        raise InputError(name, getattr(event, beside[0]), "it excludes at", "give one of the two")


def _check_running(running: Running, layout: Layout) -> None:
    """Refuse a pass that this pool cannot have."""
    if running.vdev >= len(layout.vdevs):
        allowed = f"the pool has {len(layout.vdevs)} top-level vdevs, counted from 0"
        raise InputError("running.vdev", running.vdev, allowed, "name one of them")
    vdev = layout.vdevs[running.vdev]
    for name in ("drives", "waiting"):
        wrong = [each for each in getattr(running, name) if not 0 <= each < vdev.children]
        if wrong:
            allowed = f"{vdev} has {vdev.children} drives, counted from 0"
            raise InputError(f"running.{name}", wrong[0], allowed, "name one of them")
    if running.missing > vdev.tolerance:
        allowed = f"{vdev} does without {vdev.tolerance}"
        raise InputError("running.missing", running.missing, allowed, "leave out those that it needs")
    if running.old_drive == "missing" and running.kind != "scrub":
        gone = len({*running.drives, *running.waiting}) + running.missing
        if gone > vdev.tolerance:
            allowed = f"{vdev} does without {vdev.tolerance}: with so many missing nothing could be repaired"
            remedy = "leave out those that are still there, or state that old ones are (old_drive: online)"
            raise InputError("running.drives", gone, allowed, remedy)
    _check_beside(running, layout)
    if not running.drives and running.kind != "scrub":
        raise InputError("running.drives", None, f"a {running.kind} is of one drive or more", "write [0]")


def _check_beside(running: Running, layout: Layout) -> None:
    """Refuse drives of other vdevs that this pool does not have, or of which too many are gone."""
    for each in running.beside:
        if each.vdev >= len(layout.vdevs) or each.vdev == running.vdev:
            allowed = f"the pool has {len(layout.vdevs)} top-level vdevs, and the pass is of another already"
            raise InputError("running.beside.vdev", each.vdev, allowed, "name another of them, from 0")
        vdev = layout.vdevs[each.vdev]
        wrong = [number for number in each.drives if not 0 <= number < vdev.children]
        if wrong:
            allowed = f"{vdev} has {vdev.children} drives, counted from 0"
            raise InputError("running.beside.drives", wrong[0], allowed, "name one of them")
        if each.old_drive == "missing" and len(set(each.drives)) > vdev.tolerance:
            allowed = f"{vdev} does without {vdev.tolerance}: with so many missing nothing could be repaired"
            remedy = "leave out those that are still there"
            raise InputError("running.beside.drives", len(set(each.drives)), allowed, remedy)


def _with_any_drive(event: object) -> object:
    """Return an event that leaves the new drive open."""
    if isinstance(event, Event):
        event = event.model_dump(mode="json", exclude_unset=True)
    if not isinstance(event, Mapping):
        return event  # which is refused where the events are read
    return {name: value for name, value in event.items() if name not in NEW_DRIVE}


class Plan(_Part):
    """A pool and what happens to it.

    Raises
    ------
    InputError
        In one sentence that names the field, when something cannot be used.

    Examples
    --------
    >>> plan = Plan.from_dict({"scenario": {"layout": "raidz2x6"}, "events": [{"do": "fail", "drive": 0}]})
    >>> plan.events[0].do
    'fail'
    """

    title: str = Field("", max_length=200, description="what the plan is about, in one line")
    scenario: Annotated[dict[str, object], BeforeValidator(plain_scenario)] = Field(
        description="the pool: fields of a scenario file"
    )
    spares: int = Field(0, ge=0, le=255, description="hot spares of the pool")
    zed: bool = Field(True, description="whether ZED (or zfsd) runs and puts spares in")
    detection: Seconds = Field(0.0, ge=0, description="time from a failure until ZFS faults the drive")
    churn: Bytes = Field(0, ge=0, description="bytes written a day: what a drive that was away lacks")
    special: tuple[int, ...] = Field((), description="top-level vdevs that are special or dedup")
    vdev_names: tuple[str, ...] = Field(
        (),
        max_length=MAX_VDEVS,
        description="names of the top-level vdevs, in their order",
    )
    autoexpand: bool = Field(False, description="whether vdevs grow with their last larger drive")
    at_once: int = Field(1, ge=1, le=255, description="drives a command, where a procedure takes one each")
    running: Running | None = Field(None, description="what runs when the timeline begins")
    events: tuple[Event, ...] = Field((), max_length=MOST_EVENTS, description="what happens, in order")

    @model_validator(mode="after")
    def _fits_the_pool(self) -> Self:
        layout = self.pool.pool_layout
        for place, event in enumerate(self.events):
            _check_event(event, layout, f"events[{place}]")
        if (running := self.running_as_stated) is not None:
            _check_running(running, layout)
        if self.at_once > 1 and self.events and not any(event.each for event in self.events):
            allowed = "it is about events that concern each drive of a vdev in turn, and the plan has none"
            remedy = "leave it out, or take the procedure grow-vdev; replace-at-once replaces two in one pass"
            raise InputError("at_once", self.at_once, allowed, remedy)
        return self

    @property
    def running_as_stated(self) -> Running | None:
        """What runs, with what the scenario says of it where it does not itself."""
        running, pool = self.running, self.pool
        if running is None:
            return None
        said: dict[str, object] = {}
        if pool.replaced_drives is not None:
            said["drives"] = tuple(range(pool.replaced_drives))
        if pool.old_drive in ("missing", "online"):
            said["old_drive"] = pool.old_drive
        if pool.replace_in is not None and pool.replace_in.isdecimal():
            said["vdev"] = int(pool.replace_in)
        return Running.model_validate({**said, **running.model_dump(exclude_unset=True)})

    @property
    def pool(self) -> Scenario:
        """The scenario of the pool; one of plain disks can be scrubbed only."""
        stated = dict(self.scenario)
        if "operation" not in stated and Layout.parse(str(stated.get("layout"))).vdevs[0].is_disk:
            stated["operation"] = "scrub"
        return Scenario.from_dict(stated)

    @property
    def expanded(self) -> tuple[Event, ...]:
        """The events, those that are for each drive written out."""
        vdevs = self.pool.pool_layout.vdevs
        found: list[Event] = []
        for event in self.events:
            if not event.each:
                found.append(event)
                continue
            numbers = range(vdevs[event.vdev].children)
            for first in range(0, len(numbers), self.at_once):
                batch = tuple(numbers[first : first + self.at_once])
                # The first one comes when the event does; the others when the pass before them has ended.
                change: dict[str, object] = {"drives": batch, "each": False}
                if first:
                    change |= {"at": None, "after": event.after, "when": event.when or "quiet"}
                found.append(event.model_copy(update=change))
        return tuple(found)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the plan of plain data, as a TOML file holds it."""
        return cls.model_validate(dict(data))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the plan of a TOML file.

        Raises
        ------
        InputError
            When it cannot be read or something in it cannot be used.
        """
        return cls.from_dict(load_toml(Path(path), "plan"))

    def with_scenario(self, changes: Mapping[str, object], **others: object) -> Self:
        """Return the plan with fields of its scenario, and of its own, set otherwise.

        What a change says of the new drives counts for all replacements, also for those that name their own.
        """
        data = self.model_dump(mode="json", exclude_unset=True) | others
        if set(NEW_DRIVE) & set(changes):
            events = data.get("events", ())
            if isinstance(events, list | tuple):
                data["events"] = [_with_any_drive(event) for event in events]
        own = dict(self.scenario)
        if {"fill", "alloc"} & set(changes):
            own = {name: value for name, value in own.items() if name not in ("fill", "alloc")}
        if {"drive", "drive_size"} & set(changes):
            own = {name: value for name, value in own.items() if name not in ("drive", "drive_size")}
        return type(self).from_dict(data | {"scenario": own | dict(changes)})

    @classmethod
    def json_schema(cls) -> dict[str, object]:
        """Return the JSON Schema of a plan file."""
        schema = cls.model_json_schema()
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
