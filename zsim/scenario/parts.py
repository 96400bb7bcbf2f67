"""Parts of a scenario with a structure of their own: ports, foreground load, hours of the week."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from zsim.base.errors import InputError, shown
from zsim.base.units import Duration
from zsim.scenario.field_types import Bytes, Fraction, Rate, Seconds
from zsim.scenario.loads_in_words import load_in_words
from zsim.scenario.messages import SaidInOneSentence

DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_SECONDS = 86400
WEEK_SECONDS = 7 * DAY_SECONDS

_HOURS = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))?\s+)?(\d{1,2})(?::(\d\d))?\s*-\s*(\d{1,2})(?::(\d\d))?")
_MOMENT = re.compile(r"(?P<day>[a-z]{3,9})\s+(?P<hour>\d{1,2}):(?P<minute>\d\d)\s*(?P<half>am|pm)?", re.ASCII)
_DRIVES = re.compile(r"new|\d{1,4}(?:-\d{1,4})?")
_PORT_FORM = "write port-multiplier-cbs:1,2 or port-multiplier-cbs:0-3,new"


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of some days of the week.

    Attributes
    ----------
    first_day, last_day : int
        0 Monday to 6 Sunday, both included; of hours over midnight, the days on which they begin.
    start_s, end_s : int
        Time of the day [s]; hours that end before they begin end on the next day.

    Examples
    --------
    >>> hours = Hours.parse("mon-fri 08:00-18:00")
    >>> hours.contains(9 * 3600), hours.contains(5 * 86400 + 9 * 3600)
    (True, False)
    """

    first_day: int
    last_day: int
    start_s: int
    end_s: int

    @classmethod
    def parse(cls, text: str, field: str = "hours") -> Hours:
        """Read ``mon-fri 08:00-18:00``, ``sat 9-12`` or, for every day, ``08:00-18:00`` or ``22:00-06:00``.

        Raises
        ------
        InputError
            When it is something else.
        """
        remedy = "write mon-fri 08:00-18:00, 08:00-18:00 or 22:00-06:00"
        match = _HOURS.fullmatch(str(text).strip().lower())
        days = [day for day in match.groups()[:2] if day] if match else []
        if match is None or not set(days) <= set(DAYS):
            raise InputError(field, text, "it is no span of hours", remedy)
        first = DAYS.index(days[0]) if days else 0
        last = DAYS.index(days[-1]) if days else 6
        start, end = (int(match[i]) * 3600 + int(match[i + 1] or 0) * 60 for i in (3, 5))
        if not 0 <= start < DAY_SECONDS or not 0 <= end <= DAY_SECONDS or start == end:
            raise InputError(field, text, "it lasts no time, or has an hour beyond 24:00", remedy)
        return cls(first, last, start, end)

    def contains(self, week_s: float) -> bool:
        """Tell whether a moment lies in these hours.

        Parameters
        ----------
        week_s : float
            Time since Monday 00:00 [s]; weeks repeat.
        """
        day, second = divmod(week_s % WEEK_SECONDS, DAY_SECONDS)
        if self.start_s < self.end_s:
            return self._has(int(day)) and self.start_s <= second < self.end_s
        began_today, began_before = self._has(int(day)), self._has(int(day) - 1)
        return (began_today and second >= self.start_s) or (began_before and second < self.end_s)

    def _has(self, day: int) -> bool:
        """Tell whether a day is one of these; they may run over the end of the week."""
        return (day - self.first_day) % 7 <= (self.last_day - self.first_day) % 7

    def __str__(self) -> str:
        days = "" if (self.first_day, self.last_day) == (0, 6) else _day_names(self.first_day, self.last_day)
        return f"{days}{_clock(self.start_s)}-{_clock(self.end_s)}"


def parse_moment(text: object) -> int:
    """Read a moment of the week: ``fri 13:41`` or ``friday 1:41pm``, or that of a date.

    Returns
    -------
    int
        Time since Monday 00:00 [s].

    Raises
    ------
    InputError
        When it is something else.
    """
    if isinstance(text, int) and 0 <= text < WEEK_SECONDS:
        return text
    if isinstance(text, datetime):
        return text.weekday() * DAY_SECONDS + text.hour * 3600 + text.minute * 60
    match = _MOMENT.fullmatch(str(text).strip().lower())
    hour = _hour(int(match["hour"]), match["half"]) if match else 24
    if match is None or match["day"] not in (*DAYS, *DAY_NAMES) or hour > 23 or int(match["minute"]) > 59:
        raise InputError("begins", text, "it is no moment of the week", "write fri 13:41")
    return DAYS.index(match["day"][:3]) * DAY_SECONDS + hour * 3600 + int(match["minute"]) * 60


def _hour(hour: int, half: str | None) -> int:
    """Return the hour of the day, 0 to 23, of one that may have am or pm; 24 where there is none such."""
    if half is None:
        return hour
    return hour % 12 + 12 * (half == "pm") if 1 <= hour <= 12 else 24


def format_moment(week_s: int) -> str:
    """Print a moment of the week as `parse_moment` reads it."""
    day, second = divmod(week_s, DAY_SECONDS)
    return f"{DAYS[day]} {_clock(second)}"


HoursField = Annotated[
    Hours,
    BeforeValidator(lambda value: value if isinstance(value, Hours) else Hours.parse(value)),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["mon-fri 08:00-18:00"]}),
]
Moment = Annotated[
    int,
    BeforeValidator(lambda value: value if value is None else parse_moment(value)),
    PlainSerializer(lambda value: value if value is None else format_moment(value)),
    WithJsonSchema({"type": "string", "examples": ["fri 13:41"]}),
]


class Port(SaidInOneSentence):
    """Some drives behind one shared link: a port multiplier, an expander, an enclosure.

    Text form: ``NAME:DRIVES``, for example ``port-multiplier-cbs:1,2`` or ``sas-expander:0-23,new``.

    Attributes
    ----------
    enclosure : str
        Name of a model of ``models/enclosures``.
    drives : tuple of int or "new"
        Drives of the pool, counted from 0 in the order of the layout; ``new`` means the drives that replace.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enclosure: str = Field(description="model of the shared link, of models/enclosures")
    drives: tuple[int | Literal["new"], ...] = Field(
        min_length=1,
        description="drives behind it, counted from 0 in the order of the layout; new: the new ones",
    )

    if TYPE_CHECKING:

        def __init__(self, *, enclosure: str, drives: str | Sequence[int | Literal["new"]]) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if isinstance(value, str):
            enclosure, colon, drives = value.rpartition(":")
            if not colon or not enclosure.strip():
                raise InputError("port", value, "it is not NAME:DRIVES", _PORT_FORM)
            return {"enclosure": enclosure.strip(), "drives": parse_drives(drives)}
        if isinstance(value, dict) and isinstance(value.get("drives"), str):
            return {**value, "drives": parse_drives(value["drives"])}
        return value

    def leaves(self, count: int, new: int) -> tuple[int, ...]:
        """Return the indices of the drives behind the link.

        Parameters
        ----------
        count : int
            Drives of the layout.
        new : int
            New drives; they have the indices from `count` on.

        Raises
        ------
        InputError
            When a drive does not exist.
        """
        found: list[int] = []
        for drive in self.drives:
            found += range(count, count + new) if drive == "new" else [drive]
        for drive in found:
            if not 0 <= drive < count + new:
                allowed = f"the drives of this layout are 0 to {count - 1} and new"
                raise InputError("port", str(self), allowed, "count drives from 0 in the order of the layout")
        return tuple(dict.fromkeys(found))

    def __str__(self) -> str:
        return f"{self.enclosure}:{','.join(str(drive) for drive in self.drives)}"


def parse_drives(text: str) -> tuple[int | Literal["new"], ...]:
    """Read a list of drives: ``1,2``, ``0-3,new``.

    Raises
    ------
    InputError
        When it is something else.
    """
    drives: list[int | Literal["new"]] = []
    for item in (each.strip().lower() for each in text.split(",")):
        if not _DRIVES.fullmatch(item):
            raise InputError("port", text, f"{shown(item)} is no drive", _PORT_FORM)
        if item == "new":
            drives.append("new")
            continue
        first, _, last = item.partition("-")
        if int(last or first) < int(first):
            raise InputError("port", text, f"{shown(item)} runs backwards", _PORT_FORM)
        drives += range(int(first), int(last or first) + 1)
    return tuple(drives)


LoadKind = Literal["random-read", "sequential-read", "sync-write", "async-write"]
LOAD_KINDS: tuple[str, ...] = get_args(LoadKind)
WRITES = ("sync-write", "async-write")
"""Those that write."""
LOAD_REMEDY = (
    "write for instance random-read,rate=50, or in words: 300 reads/s 8K, backup 100MB/s 22:00-06:00, "
    "database 30%, or none"
)


class Load(SaidInOneSentence):
    """Foreground load on the pool while it resilvers: open (a rate) or closed (threads that think).

    Text form: ``random-read,rate=50,size=64K,hours=mon-fri 08:00-18:00``, or as people say it, ``backup
    100MB/s 22:00-06:00`` (`zsim.scenario.loads_in_words`).

    Attributes
    ----------
    kind : {"random-read", "sequential-read", "sync-write", "async-write"}
        What the clients do.
    rate : float
        Requests per second, Poisson arrivals [1/s].
    bandwidth : float
        Instead of a rate: data a second [bytes/s].
    share : float
        Instead of a rate: share of what the drives of the pool can do together of this kind.
    threads : int
        Instead of a rate: clients that ask again `think` after each answer.
    think : float
        Mean of the exponential pause of a thread [s].
    size : int
        Size of a request [bytes].
    hours : Hours
        When the load is on; always, if not given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: LoadKind = Field(description="what the clients do")
    rate: float | None = Field(None, gt=0, le=1e9, allow_inf_nan=False, description="requests per second")
    bandwidth: Rate | None = Field(None, gt=0, description="instead of a rate: data a second: 100MB/s")
    share: Fraction | None = Field(
        None, gt=0, le=1, description="instead of a rate: share of what the drives can do together: 30%"
    )
    threads: int | None = Field(None, ge=1, le=10_000, description="instead of a rate: clients that wait")
    think: Seconds | None = Field(None, description="mean pause of a thread between answer and next request")
    size: Bytes | None = Field(None, description="size of a request; the record size if not given")
    hours: HoursField | None = Field(None, description="when the load is on, such as mon-fri 08:00-18:00")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            kind: LoadKind,
            rate: float | None = None,
            bandwidth: float | str | None = None,
            share: float | str | None = None,
            threads: int | None = None,
            think: Duration | None = None,
            size: int | str | None = None,
            hours: Hours | str | None = None,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        spoken = load_in_words(value)
        if spoken is not None:
            return spoken
        kind, *settings = (each.strip() for each in value.split(","))
        if kind not in LOAD_KINDS:
            raise InputError("load", value, f"a load begins with {', '.join(LOAD_KINDS)}", LOAD_REMEDY)
        data: dict[str, object] = {"kind": kind}
        for setting in settings:
            key, equals, text = setting.partition("=")
            if not equals or not text.strip():
                raise InputError(
                    "load", value, f"{shown(setting)} is not KEY=VALUE", "write random-read,rate=50,size=64K"
                )
            data[key.strip()] = text.strip()
        return data

    @model_validator(mode="after")
    def _open_or_closed(self) -> Load:
        amounts = (self.rate, self.bandwidth, self.share, self.threads)
        if sum(each is not None for each in amounts) != 1:
            allowed = "a load has one of rate, bandwidth, share and threads"
            raise InputError(
                "load", self.kind, allowed, "write random-read,rate=50, random-read,threads=4,think=1ms, or "
                "backup 100MB/s 22:00-06:00",
            )  # fmt: skip
        if self.think is not None and self.threads is None:
            raise InputError("load", self.kind, "think goes with threads", "give threads instead of rate")
        if self.size is not None and not 512 <= self.size <= 1 << 30:
            raise InputError("load size", self.size, "a request has 512 bytes to 1 GiB", "write size=64K")
        return self


def _clock(second: int) -> str:
    return f"{second // 3600:02d}:{second % 3600 // 60:02d}"


def _day_names(first: int, last: int) -> str:
    return f"{DAYS[first]} " if first == last else f"{DAYS[first]}-{DAYS[last]} "
