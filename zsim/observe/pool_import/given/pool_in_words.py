"""A pool that a person describes in a sentence of its own: ``8x 16TB Exos in raidz2, 60% full``.

Each thing that can be said has a form (`sentence_forms`); where it is found it is blanked out, and what is
left in the end was not understood and is told.  Sentences beside the outputs of zpool are read by
`layout_words` and `zsim.observe.devices.sentences`, which look for less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.units import (
    format_bytes_exactly,
    format_drive_size,
    format_drive_size_exactly,
    format_duration,
    format_fraction,
    parse_bytes,
    parse_fraction,
)
from zsim.drives.names import SHINGLED as SHINGLED_DRIVE
from zsim.drives.names import series_in, series_of, tokens
from zsim.observe.devices.models import model_of
from zsim.observe.devices.usual_sizes import usual_bytes
from zsim.observe.pool_import.given.other_languages import SAYS_NOTHING as ELSEWHERE
from zsim.observe.pool_import.given.other_languages import in_english
from zsim.observe.pool_import.given.sentence_forms import (
    ASIDE,
    CALLED,
    CLASSED,
    CLAUSES,
    COUNTS,
    DATA,
    DATA_DRIVES,
    DISTRIBUTED,
    DRIVES_AND_VDEVS,
    EACH,
    ELAPSED,
    FACTS,
    FILE,
    FINISHED,
    FREE,
    KIND,
    LAYOUT,
    NUMBERS,
    OF_SERIES,
    PART_FULL,
    PART_OF,
    PARTS,
    PER_VDEV,
    PERCENT,
    PLAIN,
    PRODUCT,
    RELEASE,
    RPM,
    SAYS_NOTHING,
    SHINGLED,
    TOML,
    VENDOR,
    WORD,
    amount_of,
    rounded,
    running_scan,
    seconds_in,
)
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import pool_size
from zsim.scenario.releases.products import product_names
from zsim.scenario.releases.profile import DEFAULT_RELEASE, load_release
from zsim.scenario.words import CAPACITIES, DATA_SIZES, SHARES
from zsim.vdevs.arrays import asizes_on
from zsim.vdevs.kind import word_of_parity

LONGEST = 400
"""Characters of a text that is taken for a sentence about a pool."""
SAME_SIZE = 0.03
REMEDY = "write for instance '8x 16TB in raidz2', or --layout raidz2x8 --drive-size 16TB"
PAIR = 2
"""Drives of a mirror of which nobody says how many it has."""
OLD_PARITY = {"5": 1, "6": 2, "10": 0}
COUNTED_RECORD, COUNTED_ASHIFT = 128 << 10, 12
"""Records and sectors by which the space of data is counted [bytes, log2(bytes)]."""
FIRST = ("layout", "drive", "drive_size", "new_drive_size", "fill")


@dataclass(frozen=True, slots=True)
class PoolInWords:
    """What a sentence says of a pool.

    Attributes
    ----------
    fields : dict of str to object
        Of the scenario, as `zsim.scenario.model.Scenario` takes them.
    drives : int or None
        How many drives it counts in all.
    unread : tuple of str
        Its words that were not understood.
    data : str
        The amount of data, as it was said, that ALLOC is taken from.
    """

    fields: dict[str, object]
    drives: int | None
    unread: tuple[str, ...]
    data: str = ""


def as_flags(fields: Mapping[str, object]) -> str:
    """Return fields as they are written for ``zsim predict``; a scan that runs in words."""
    held = fields.get("evidence")
    scans = held if isinstance(held, list) else []
    stated = {name: each for name, each in fields.items() if name != "evidence"}
    flags = [f"--{name.replace('_', '-')} {_flag(name, each)}" for name, each in stated.items()]
    flags += [
        f"--evidence {each['kind']}={format_duration(each['duration']).replace(' ', '')}"
        for each in scans
        if each["what"] == "finished"
    ]
    return " ".join(flags) + "".join(_scan_words(each) for each in scans if each["what"] == "running")


def _scan_words(scan: Mapping[str, object]) -> str:
    after = f" after {format_duration(float(str(scan['elapsed'])))}" if "elapsed" in scan else ""
    kind, done = str(scan["kind"]), format_fraction(float(str(scan["done"])))
    return f", {CALLED.get(kind, f'a {kind}')} {done} done{after}"


def may_be_words(names: Sequence[str]) -> bool:
    """Tell whether what stands in the place of files may be a sentence: no word of it is the name of one."""
    return not any(name == "-" or "/" in name or FILE.search(name) for name in names)


def pool_in_words(text: str, *, needs_layout: bool = True) -> PoolInWords | None:
    """Return what a sentence says of a pool; None where it is none about drives or vdevs.

    Parameters
    ----------
    text : str
    needs_layout : bool
        Whether it has to say how the drives are combined.

    Raises
    ------
    InputError
        When it says two things of one, or not how the drives are combined.
    """
    typed = text.replace("\u00d7", "x")
    english = in_english(typed)
    words = PERCENT.sub("%", " ".join(english.split()))
    if len(words) > LONGEST or TOML.search(text):
        return None
    sentence = _Sentence(words, foreign=english != typed)
    sentence.read()
    if not (sentence.layout or sentence.kind or sentence.drives):
        return None
    if needs_layout and sentence.layout is None:
        raise _without_layout(sentence)
    fields = sentence.fields()
    ordered = sorted(fields, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    named = {name: fields[name] for name in ordered}
    return PoolInWords(named, sentence.drives, sentence.unread(), sentence.data)


def _without_layout(sentence: _Sentence) -> InputError:
    """Return what a sentence lacks that names no layout."""
    if DISTRIBUTED.search(sentence.text):
        allowed = "nothing says how many drives of a dRAID hold data, and how many are spares"
        return InputError("pool", sentence.text, allowed, "write draid2:8d:24c:1s for instance")
    wanting = "how many drives a vdev has" if sentence.kind else "how the drives are combined"
    return InputError("pool", sentence.text, f"nothing says {wanting}", REMEDY)


def _flag(name: str, value: object) -> str:
    if name in CAPACITIES and isinstance(value, int):
        return format_drive_size_exactly(value)
    if name in DATA_SIZES and isinstance(value, int):
        return format_bytes_exactly(value)
    return (
        format_fraction(value).replace(" ", "") if name in SHARES and isinstance(value, float) else str(value)
    )


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that was read, and where it stands."""

    value: int
    start: int
    end: int


class _Sentence:
    """A sentence while it is read: what was understood is blanked out in `rest`.

    Attributes
    ----------
    text, rest : str
    layout, drives, size : str, int and int, or None
        What it says, the capacity in bytes.
    kind : str
        The word for it; empty where it names none.
    parity : int or None
        What it means; 0: a mirror.
    data : str
        The amount of data that ALLOC is taken from; empty where parity adds nothing.
    """

    def __init__(self, text: str, foreign: bool = False) -> None:
        self.text, self.rest, self._foreign = text, text, foreign
        self.layout: str | None = None
        self.kind = ""
        self.parity: int | None = None
        self.drives: int | None = None
        self.size: int | None = None
        self._numbers: dict[str, _Number] = {}
        self._facts: dict[str, object] = {}
        self.data = ""
        self._spares = 0
        self._rpm: int | None = None
        self._aside: list[str] = []

    def read(self) -> None:
        """Read all that has a form."""
        self._take_layout(classed=True)
        self._take_aside()
        self._take_layout()
        self._take_finished()
        self._take_running()
        self._take_part_full()
        for name, form in FACTS.items():
            for match in form.finditer(self.rest):
                self._note_fact(name, match)
        self._take_host()
        self._take_rotation()
        for form in DRIVES_AND_VDEVS:
            for match in form.finditer(self.rest):
                self._note(match)
        for match in KIND.finditer(self.rest):
            self._note_kind(match)
        self._take_plain()
        self._combine()
        self._take_model()
        self._take_data()

    def fields(self) -> dict[str, object]:
        """Return the fields of the scenario."""
        found = dict(self._facts)
        if self.layout is not None:
            spares = f"+spare:{self._spares}" if self._spares else ""
            found["layout"] = f"{self.layout}{spares}"
        if self.size is not None:
            found["drive_size"] = self.size
        return found

    def unread(self) -> tuple[str, ...]:
        """Return the words that were not understood, those that stand together as one."""
        found: list[str] = list(self._aside)
        end = -2  # the first word stands beside none of what was set aside
        for match in WORD.finditer(self.rest):
            word = match[0].strip(".-+/*=")
            if not word or word.lower() in SAYS_NOTHING or (self._foreign and word.lower() in ELSEWHERE):
                continue
            together = found and match.start() == end + 1
            found[-1:] = [f"{found[-1]} {word}"] if together else [*found[-1:], word]
            end = match.end()
        return tuple(found)

    def _blank(self, start: int, end: int) -> None:
        self.rest = f"{self.rest[:start]}{' ' * (end - start)}{self.rest[end:]}"

    def _blank_groups(self, match: re.Match[str]) -> None:
        """Blank out what a form has names for; words between it are looked at again."""
        for name in match.re.groupindex:
            if match[name] is not None:
                self._blank(*match.span(name))

    def _refuse(self, what: str, first: object, second: object) -> InputError:
        allowed = f"it names {what}, {first} and {second}"
        remedy = "name one, or write the pool as --layout raidz2x8+raidz2x6"
        if "sizes" in what:
            remedy = "name the smaller one, and larger drives as --exchanged 0:@18TB or --new-drive-size 18TB"
        return InputError("pool", self.text, allowed, remedy)

    def _take_layout(self, *, classed: bool = False) -> None:
        """Note vdevs that stand there as they are typed; first those with other classes behind them."""
        for match in LAYOUT.finditer(self.rest):
            word = match["vdev"].rstrip(".:")
            if classed and not CLASSED.search(word):
                continue
            try:
                layout = Layout.parse(word)
                number = int(match["times"] or 1) * int(match["more"] or 1)
                typed = str(layout if number == 1 else layout.repeated(number))
            except InputError:
                continue
            self.layout = typed if self.layout is None else str(Layout.parse(f"{self.layout}+{typed}"))
            self._blank_groups(match)

    def _take_aside(self) -> None:
        """Set clauses aside that are about other drives than those for data."""
        starts = [0, *(match.start() for match in CLAUSES.finditer(self.rest))]
        for start, end in zip(starts, [*starts[1:], len(self.rest)], strict=True):
            clause = self.rest[start:end]
            if ASIDE.search(clause):
                self._aside.append(clause.strip(" ,;+.").removeprefix("and ").removeprefix("with "))
                self._blank(start, end)
        self._of_data = self.rest

    def _note_fact(self, name: str, match: re.Match[str]) -> None:
        found: dict[str, object] = {}
        said = match.groupdict()
        if name == "scrub":
            found["operation"] = "scrub"
        elif name == "replace":
            found["replace"] = 1 if said["replace"].lower() == "one" else _number(said["replace"])
        elif name == "spares":
            count = (said["spares"] or "one").lower()
            self._spares = 1 if count in ("a", "one") else _number(count)
        elif name == "new":
            found["new_drive_size"] = _bytes(match)
        elif name == "free":
            found["fill"] = round(1.0 - int(said["free"]) / 100.0, 2)
        elif name in ("fill", "frag"):
            found[name] = parse_fraction(f"{said[name].rstrip('% ')}%", name)
        else:
            field = "recordsize" if name == "records" else name
            found[field] = parse_bytes(said[field].replace(" ", ""), field)
        for field, value in found.items():
            if self._facts.setdefault(field, value) != value:
                shown = (_flag(field, each) for each in (self._facts[field], value))
                raise self._refuse(f"two values of {field.replace('_', ' ')}", *shown)
        self._blank_groups(match)

    def _take_finished(self) -> None:
        """Note how long an earlier scan took, as evidence."""
        if (match := FINISHED.search(self.rest)) is not None:
            found = {"what": "finished", "kind": match["scan"].lower(), "duration": seconds_in(match)}
            self._facts["evidence"] = [found]
            self._blank_groups(match)

    def _take_running(self) -> None:
        """Note a scan that runs, as evidence."""
        if (found := running_scan(self.rest)) is None:
            return
        match, kind = found
        said = match.groupdict()
        scan: dict[str, object] = {"what": "running", "kind": kind}
        if said.get("done") is not None:
            scan["done"] = parse_fraction(f"{said['done']}%", "done")
        else:
            part, whole = (amount_of(str(said[name])) for name in ("part", "whole"))
            scan["done"] = round(min(1.0, part / max(whole, 1)), 4)
            self._facts["alloc"] = rounded(whole)
        self._blank_groups(match)
        if (gone := ELAPSED.search(self.rest)) is not None:
            scan["elapsed"] = seconds_in(gone)
            self._blank_groups(gone)
        if scan["kind"] != "resilver":
            self._facts["operation"] = scan["kind"]
        earlier = self._facts.get("evidence")
        self._facts["evidence"] = [*(earlier if isinstance(earlier, list) else []), scan]

    def _take_part_full(self) -> None:
        if (match := PART_FULL.search(self.rest)) is not None:
            part = re.sub(r"^(?:a|one|1) ", "", match["part"].lower())
            self._facts["fill"] = round(PARTS[part], 2)
            self._blank_groups(match)
        if (match := PART_OF.search(self.rest)) is not None:
            used, whole = amount_of(match["part"]), amount_of(match["whole"])
            self._facts["fill"] = round(min(1.0, used / max(whole, 1)), 2)
            self._blank_groups(match)

    def _take_data(self) -> None:
        """Note how much the pool holds; data need more space where parity comes on top.

        ZFS counts the space of data as that of records of 128 KiB (vdev.c vdev_set_deflate_ratio).
        """
        match = DATA.search(self.rest) or FREE.search(self.rest)
        if match is None or self.layout is None or {"fill", "alloc"} & self._facts.keys():
            return
        space = {
            asizes_on(vdev, np.array([COUNTED_RECORD]), COUNTED_ASHIFT)[0]
            for vdev in Layout.parse(self.layout).data
        }
        if len(space) > 1:
            return
        raw = match["said"].lower().startswith("alloc")
        grows = 1.0 if raw else float(space.pop()) / COUNTED_RECORD
        amount = amount_of(match["amount"])
        release = load_release(DEFAULT_RELEASE)
        size = pool_size(Layout.parse(self.layout), self.size, release) if self.size else 0
        if match.re is DATA and amount * grows > size >= amount:
            # So much data has no room: what zpool list prints is meant, parity included.
            grows = 1.0
        held = amount * grows
        if match.re is FREE:
            if held >= size:
                return
            held = size - held
        self.data = match["amount"] + (" free" if match.re is FREE else "") if grows > 1.0 else ""
        self._facts["alloc"] = rounded(held)
        self._blank_groups(match)

    def _take_rotation(self) -> None:
        if (match := RPM.search(self.rest)) is not None:
            self._rpm = int(match[1])
            self._blank(*match.span())

    def _take_host(self) -> None:
        """Note the product, the release and the use, where zsim has what is named."""
        if (match := PRODUCT.search(self.rest)) is not None:
            name, edition, number = (each.strip().lower() for each in match.groups(default=""))
            known = product_names()
            named = next(
                (each for each in (f"{name}-{edition}-{number}", f"{name}-{number}") if each in known), ""
            )
            if named:
                self._facts["product"] = named
                self._blank(*match.span())
        if (match := RELEASE.search(self.rest)) is not None:
            try:
                self._facts["release"] = load_release(match[2]).name
            except InputError:
                return
            self._blank(*match.span())
        for use in model_data.names("histories"):
            if (match := re.search(rf"\b{use.replace('-', '[ -]')}\b", self.rest, re.IGNORECASE)) is not None:
                self._facts["history"] = use
                self._blank(*match.span())

    def _note(self, match: re.Match[str]) -> None:
        """Note numbers of drives and vdevs, and a capacity."""
        said = match.groupdict()
        for name in ("count", "wide", "vdevs", "more"):
            if said.get(name) is not None:
                found = _Number(_number(said[name]), *match.span(name))
                before = self._numbers.setdefault(name, found)
                if before.value != found.value:
                    raise self._refuse(f"two {NUMBERS[name]}", before.value, found.value)
        if said.get("size") is not None:
            size = _bytes(match)
            if self.size not in (None, size):
                raise self._refuse(
                    "two sizes of drives", format_drive_size(self.size or 0), format_drive_size(size)
                )
            self.size = size
        self._blank_groups(match)

    def _note_kind(self, match: re.Match[str]) -> None:
        told = match["parity"] or match["bare"] or 1
        parity = 0 if match["copies"] else OLD_PARITY.get(match["old"] or "", int(told))
        if self.parity not in (None, parity):
            raise self._refuse("two kinds of vdevs", self.kind, match["kind"].lower())
        self.parity, self.kind = parity, match["kind"].lower()
        self._blank_groups(match)

    def _take_plain(self) -> None:
        """Note drives without redundancy, where no kind of vdev is named."""
        match = PLAIN.search(self.rest)
        if match is None or self.kind or self.layout is not None:
            return
        single = match["plain"].lower().startswith("single")
        count = self._numbers.get("count")
        drives = 1 if count is None and single else 0 if count is None else count.value
        if not drives or self._numbers.keys() & {"wide", "vdevs", "more"}:
            return
        self.layout, self.drives = str(Layout.parse(f"{drives}*disk")), drives
        self._blank_groups(match)

    def _combine(self) -> None:
        """Make the layout of the kind, and of the numbers of vdevs and drives."""
        count, wide, vdevs, more = (self._numbers.get(name) for name in NUMBERS)
        if more is not None and (wide or count or self.parity == 0):
            # raidz2 x 8 has eight drives; of a vdev whose drives are known there are so many.
            vdevs, more = vdevs or more, None
        if self.layout is not None:
            self._repeat(count, wide, vdevs)
            return
        self.drives = None if count is None else count.value
        wide = wide or more
        if self._distributed(count, wide, vdevs) or self.parity is None:
            return
        if self.parity and count is None and wide is None:
            return
        number, width = self._shape(count, wide, vdevs)
        self.layout = str(Layout.parse(f"{number}*{word_of_parity(self.parity, width)}"))
        self.drives = number * width

    def _distributed(self, count: _Number | None, wide: _Number | None, vdevs: _Number | None) -> bool:
        """Make the layout of a dRAID, where its drives are counted; tell whether it is one."""
        kind, data = DISTRIBUTED.search(self.rest), DATA_DRIVES.search(self.rest)
        drives = wide or count
        if kind is None or data is None or drives is None:
            return kind is not None
        word = f"{kind['kind'].lower().replace('-', '')}{kind['parity'] or 1}"
        one = Layout.parse(f"{word}:{data['data']}d:{drives.value}c:{self._spares}s")
        self.layout = str(one if vdevs is None else one.repeated(vdevs.value))
        self.drives, self._spares = Layout.parse(self.layout).leaves, 0
        self._blank(*kind.span())
        self._blank_groups(data)
        return True

    def _repeat(self, count: _Number | None, wide: _Number | None, vdevs: _Number | None) -> None:
        """Give the vdevs that are typed the number that is said; refuse what is said otherwise."""
        assert self.layout is not None
        layout = Layout.parse(self.layout)
        if vdevs is not None and len(layout.data) == 1:
            layout = layout.repeated(vdevs.value)
        said = {each.value for each in (count, wide) if each is not None}
        if self.kind or said - {layout.leaves, layout.data[0].children}:
            raise self._refuse("a layout and something else", layout, self.kind or f"{max(said)} drives")
        if vdevs is not None and len(layout.data) != vdevs.value:
            raise self._refuse("a layout and something else", layout, f"{vdevs.value} vdevs")
        self.layout, self.drives = str(layout), layout.leaves

    def _shape(self, count: _Number | None, wide: _Number | None, vdevs: _Number | None) -> tuple[int, int]:
        """Return how many vdevs there are, and drives in each."""
        if count is None or (wide is not None and count.value == wide.value):
            return (1 if vdevs is None else vdevs.value), (PAIR if wide is None else wide.value)
        drives = count.value
        if wide is not None:
            number = drives // max(1, wide.value) if vdevs is None else vdevs.value
            if not wide.value or number * wide.value != drives:
                raise self._refuse("numbers that do not fit", f"{drives} drives", f"vdevs of {wide.value}")
            return number, wide.value
        if vdevs is None:
            in_pairs = self.parity == 0 and drives > 3 and drives % 2 == 0
            return (drives // PAIR, PAIR) if in_pairs else (1, drives)
        whole = self.parity == 0 and drives == PAIR * vdevs.value
        if vdevs.end <= count.start and EACH.match(self.text, count.end):
            return vdevs.value, drives
        if not whole and vdevs.end <= count.start and PER_VDEV.fullmatch(self.text[vdevs.end : count.start]):
            return vdevs.value, drives
        if not vdevs.value or drives % vdevs.value:
            raise self._refuse("numbers that do not fit", f"{drives} drives", f"{vdevs.value} vdevs")
        return vdevs.value, drives // vdevs.value

    def _take_model(self) -> None:
        """Note the drive of the catalogue that is named, or the generic one of its series."""
        words = re.sub(r"(?i)\bssds\b", "SSD ", self._of_data)
        token = next((each for each in tokens(words) if series_of(each) is not None), None)
        series = series_in(words) if token is None else None
        start, end = (words.index(token), words.index(token) + len(token)) if token else (0, 0)
        if series is not None:
            start, end = series[1]
            more = OF_SERIES.match(words, end)
            end = end if more is None else more.end()
        vendor = VENDOR.search(self.rest)
        named = " ".join(filter(None, (vendor[0] if vendor and not token else "", words[start:end].strip())))
        shingled = SHINGLED.search(self.rest)
        sized = f" {self.size / 10**12:g} TB" if self.size is not None and token is None else ""
        found = model_of(named + sized, rpm=self._rpm)
        drive = SHINGLED_DRIVE if shingled else found.drive
        if drive is None:
            return
        if found.size and self.size and abs(found.size / self.size - 1.0) > SAME_SIZE:
            raise self._refuse("two sizes of drives", format_drive_size(self.size), named)
        self._facts["drive"] = drive
        self.size = self.size or (found.size if drive == found.drive else None)
        for match in (shingled, vendor):
            if match is not None:
                self._blank(*match.span())
        self._blank(start, end + self.rest[end : end + 1].lower().startswith("s"))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else COUNTS.index(text.lower()) + 2


def _bytes(match: re.Match[str]) -> int:
    """Return the capacity that a form names [bytes]."""
    base = 1024 if match["binary"] else 1000
    power = {"G": 3, "T": 4}[match["unit"].upper()]
    size = round(float(match["size"]) * base**power)
    return usual_bytes(size) if match["binary"] and size else size
