"""``zpool status``: the text of every release from pool version 28 to OpenZFS 2.4, and of Solaris 11.

The forms of the ``scan:`` section, by which releases can be told apart (OpenZFS cmd/zpool/zpool_main.c,
print_scan_scrub_resilver_status and print_rebuild_status of the releases named):

=========  =============================================================================================
legacy     ``248G scanned out of 2.84T at 57.1M/s, 13h14m to go``: version 28, 0.6 and 0.7
0.8        ``1T scanned at 1G/s, 512G issued at 512M/s, 2T total``, durations as ``0 days 01:02:03``
2.0        the same, durations as ``01:02:03``: 2.0 and 2.1
2.2        ``1T / 2T scanned at 1G/s, 512G / 2T issued at 512M/s``: 2.2 and later
solaris    ``12.9T scanned`` and ``638G resilvered at 129M/s``: Solaris 11.2; while it collects blocks as
           legacy, but without a share
=========  =============================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from zsim.base.errors import InputError
from zsim.observe.cleaning import with_digits
from zsim.observe.dates import Dates
from zsim.observe.texts import (
    NUMBER,
    bad_line,
    duration,
    moment,
    nice_bytes,
    percentage,
    plain,
    whole,
)
from zsim.observe.zpool.commands import FILLS, PoolCommand, read_commands, short
from zsim.observe.zpool.expansion import Expansion, Removal, read_expansion, read_removal, with_moves
from zsim.observe.zpool.rows import elided, ends_in_a_row, sections_of
from zsim.observe.zpool.scan import Function, Scan, ScanState
from zsim.observe.zpool.told import Told, told_of_drive
from zsim.observe.zpool.vdev_tree import (
    MAX_ROWS,
    PAIRS,
    Vdev,
    is_guid,
)

MAX_POOLS = 1000
MOST_BESIDE = 1000
"""Beside a status: those before say nothing of what is repaired now."""
_KEYS = (
    "pool", "id", "state", "status", "action", "see", "scan", "scrub", "scan warning", "remove", "expand",
    "checkpoint", "comment", "config", "errors", "dedup",
)  # fmt: skip
_KEY = re.compile(rf"[ \t]{{0,12}}({'|'.join(_KEYS)}):[ \t]*(.{{0,4000}})", re.ASCII)
_POOL = re.compile(r"^[ \t]{0,12}pool:[ \t]*\S", re.MULTILINE)
_SECOND_SIGN = re.compile(r"^[ \t]{0,12}(?:state|scan|config):", re.MULTILINE)
_MAIL = re.compile(
    r"^[ \t]{0,8}eid:[ \t]*\d{1,20}[ \t\r]*\n[ \t]{0,8}class:[ \t]*(?!\w{1,40}_finish)\w{1,60}[ \t\r]*\n"
    r"(?:[ \t]{0,8}(?:(?:state|host|time|v\w{3,5}|devid|cksum|read|write):[^\n]{0,400}(?:\n|\Z)"
    r"|pool:[^\n]{0,400}(?:\n(?![ \t]{0,8}(?:id|state):)|\Z))){1,14}",
    re.MULTILINE | re.ASCII,
)
"""What ZED writes of a drive (zed.d/statechange-notify.sh); its ``pool:`` and ``state:`` are of no status."""

COLLECTS = 0.005
"""Of the bytes scanned: less is resilvered while blocks are collected; of a hundred drives one gets 1 %."""
LEAST_SCANNED = 0.95
"""Of what is issued; counters of three digits, and what is freed meanwhile, leave them a little apart."""
MOST_ISSUED = 2.0
"""Times the total: so much more is not written while a scan runs."""
_ERROR_SCRUB = ("error scrub ", "scrubbed ")
"""It reads the blocks of the error log again, some hundred (``zpool scrub -e``, 2.2 and later): no scan."""
LOGS = ("logs", "log")
_HEAD = re.compile(
    r"(scrub|resilver|rebuild)(?: \(([^)]{0,80})\))?"
    r" (in progress|paused|canceled)\b(?: (?:since|on) )?(.{0,80})"
)
_DONE = re.compile(
    rf"(scrub repaired|resilvered|rebuilt)(?: \(([^)]{{0,80}})\))?(?: ({NUMBER}))? in (.{{1,30}}?)"
    r" with (\d{1,20}) errors(?: on (.{0,80}))?",
    re.ASCII,
)
_COMPLETED = re.compile(
    r"(scrub|resilver) completed after (\d{1,6}h\d{1,2}m) with (\d{1,20}) errors(?: on (.{0,80}))?", re.ASCII
)
_BYTES = re.compile(r"(?<![\d.,])\d{1,4}B (?:repaired|resilvered|in\b)", re.ASCII)
_FOR = re.compile(
    r"(scrub|resilver) in progress(?: for (\d{1,6}h\d{1,2}m)|(?=, \d{1,3}(?:[.,]\d{1,4})?% done))", re.ASCII
)
"""The first releases print no time."""
_DATE = re.compile(r"\b\w{3} \w{3} {1,2}\d{1,2} [\d:]{8} \d{4}\b", re.ASCII)
_DONE_SHARE = re.compile(r"(\d{1,3}(?:[.,]\d{1,4})?)% done", re.ASCII)
_STARTED = re.compile(r"scrub started on (.{10,40})")
_OUT_OF = re.compile(rf"({NUMBER}) scanned out of ({NUMBER})(?: at ({NUMBER})/s)?", re.ASCII)
_SLASHED = re.compile(
    rf"({NUMBER}) / ({NUMBER}) scanned(?: at ({NUMBER})/s)?,"
    rf" ({NUMBER}) / ({NUMBER}) issued(?: at ({NUMBER})/s)?",
    re.ASCII,
)
_ISSUED = re.compile(
    rf"({NUMBER}) scanned(?: at ({NUMBER})/s)?,"
    rf" ({NUMBER}) issued(?:(?: at)? ({NUMBER})/s)?, ({NUMBER}) total",
    re.ASCII,
)
_SCANNED = re.compile(rf"({NUMBER}) scanned(?!,| at| out)", re.ASCII)
_CUT_OFF = re.compile(rf"({NUMBER})(?: / ({NUMBER}))? scanned(?: at ({NUMBER})/s)?, ", re.ASCII)
"""Of a line of which the rest is missing, or that somebody has shortened."""
_REPAIRED = re.compile(
    rf"({NUMBER}) (?:resilvered|repaired|rebuilt)(?: at ({NUMBER})/s)?"
    r"(?:, (\d{1,4}(?:[.,]\d{1,4})?)% done)?",
    re.ASCII,
)
_TO_GO = re.compile(r", ([\dhms: day]{2,30}) to go", re.ASCII)


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One pool of ``zpool status``.

    Attributes
    ----------
    name, state : str
    vdevs : tuple of Vdev
        Top-level vdevs of the normal class.
    sections : mapping of str to tuple of Vdev
        logs, cache, spares, special, dedup.
    scan : Scan or None
        The one that runs, else the last one.
    scans : tuple of Scan
        All that are printed: a pool with dRAID shows a rebuild beside the last scrub.
    at : datetime or None
        When it was printed, where a line with the date stands before it (``date``, ``zpool status -T d``).
    tabbed : bool
        Whether the progress is indented with tabs, as it is from 0.7 on (version 28 and 0.6 use blanks).
    with_bytes : bool
        Whether sizes below 1K carry a unit, as they do from 0.7 on (``0B``; zpool_util.c:zfs_nicebytes).
    complete : bool
        Whether the output goes on to its ``errors:`` line.
    in_a_row : bool
        Whether it ends within the row of a vdev.
    elided : tuple of str
        Vdevs of which somebody has left out rows, with dots in their place.
    expansion : Expansion or None
        The RAID-Z expansion that runs, or was the last.
    removal : Removal or None
        The removal of a top-level vdev that runs.
    error_scrub : str
        How the scrub of the error log goes that runs, as printed; empty where none does.
    data_errors : str
        What its ``errors:`` line says of damaged files, in words; empty where it knows of none.
    suspended : bool
        Whether that line says that all I/O of the pool is suspended.
    commands : tuple of PoolCommand
        What stands beside it of commands to this pool.
    run_before : int
        So many of these stand before it, if drives are detached by one: what it shows comes after them.
    told : {"replaced", "returned", ""}
        What a person says beside it of the drive that is resilvered: that it is new, or was away.
    renamed : bool
        Whether the pool had another name when it was printed.
    """

    name: str
    state: str
    vdevs: tuple[Vdev, ...]
    sections: Mapping[str, tuple[Vdev, ...]] = field(default_factory=dict)
    scan: Scan | None = None
    scans: tuple[Scan, ...] = ()
    at: datetime | None = None
    tabbed: bool = False
    with_bytes: bool = False
    complete: bool = True
    in_a_row: bool = False
    elided: tuple[str, ...] = ()
    expansion: Expansion | None = None
    removal: Removal | None = None
    error_scrub: str = ""
    data_errors: str = ""
    suspended: bool = False
    commands: tuple[PoolCommand, ...] = ()
    run_before: int = 0
    told: Told = ""
    renamed: bool = False

    @property
    def of_log_alone(self) -> bool:
        """Whether drives of log vdevs are resilvered, and none of others."""
        return self._alone(LOGS)

    @property
    def of_dedup_alone(self) -> bool:
        """The same of dedup vdevs."""
        return self._alone(("dedup",))

    @property
    def of_class_alone(self) -> bool:
        """Whether drives of vdevs that are not for data are resilvered, and none of those that are."""
        return self._alone(tuple(self.sections))

    def _alone(self, sections: Sequence[str]) -> bool:
        others = (vdev for key, vdevs in self.sections.items() if key not in sections for vdev in vdevs)
        named = [vdev for key, vdevs in self.sections.items() if key in sections for vdev in vdevs]
        rest = [*self.vdevs, *others]
        if self._writes_nothing and not _resilvered([*named, *rest]):
            return (_paired(named) or self._was_told_to_fill(named)) and not _paired(rest)
        return _resilvered(named) and not _resilvered(rest)

    def _was_told_to_fill(self, vdevs: Sequence[Vdev]) -> bool:
        """Tell whether the last command that puts a drive into the pool names one of these vdevs."""
        last = next((each for each in reversed(self.commands) if each.verb in FILLS), None)
        names = {short(leaf.name) for vdev in vdevs for leaf in vdev.leaves()}
        return last is not None and bool(names & {*map(short, last.drives)})

    @property
    def _writes_nothing(self) -> bool:
        """Whether a resilver has written nothing so far: it marks only drives that it has written to."""
        scan = self.scan
        return scan is not None and scan.active and scan.function == "resilver" and scan.repaired == 0

    @property
    def may_be_of_log(self) -> bool:
        """Whether a resilver that writes nothing may be of a drive attached to a log mirror."""
        logs = [vdev for key in LOGS for vdev in self.sections.get(key, ())]
        others = (vdev for key, vdevs in self.sections.items() if key not in LOGS for vdev in vdevs)
        rest = [*self.vdevs, *others]
        mirrored = any(vdev.drives > 1 for vdev in logs)
        return mirrored and self._writes_nothing and not _resilvered([*logs, *rest]) and not _paired(rest)

    @property
    def unhealthy_only(self) -> bool:
        """Whether no drive shown is healthy, as with ``zpool status -e``, which leaves those out."""
        return not any(leaf.healthy for vdev in self.vdevs for leaf in vdev.leaves())

    @property
    def by_number(self) -> bool:
        """Whether GUIDs stand for the names of vdevs, as with ``zpool status -g``."""
        return any(vdev.children and is_guid(vdev.name) for vdev in self.vdevs)


def _resilvered(vdevs: Sequence[Vdev]) -> bool:
    return any(leaf.resilvering for vdev in vdevs for leaf in vdev.leaves())


def _paired(vdevs: Sequence[Vdev]) -> bool:
    """Tell whether a drive of any of them has a successor that stands beside it."""
    return any(
        (vdev.kind in PAIRS and vdev.drives > 1) or _paired(vdev.children) for vdev in vdevs if vdev.children
    )


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool status``."""
    text = without_mails(text)
    return _POOL.search(text) is not None and _SECOND_SIGN.search(text) is not None


def without_mails(text: str) -> str:
    """Return a text with empty lines for what ZED wrote about drives."""
    return _MAIL.sub(lambda match: "\n" * match[0].count("\n"), text) if "eid:" in text else text


def read(text: str, name: str) -> tuple[PoolStatus, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return read_status(text, name)


def read_status(text: str, name: str = "zpool status") -> tuple[PoolStatus, ...]:
    """Read ``zpool status``; other text before, between and after is skipped.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for messages.

    Raises
    ------
    InputError
        When it names no pool, or the rows of its vdevs make no sense.
    """
    blocks = list(_blocks(without_mails(text), name))
    if not blocks:
        raise InputError(name, None, "a line 'pool: NAME' is expected", "give the output of zpool status")
    commands = read_commands(text)
    told = told_of_drive(text)
    lines = text.split("\n") if _detaches(commands) else []
    found = []
    for block in blocks:
        pool = _pool(block, name)
        beside = _of_pool(commands, pool.name)
        above = read_commands("\n".join(lines[: block.number])) if _detaches(beside) else ()
        before = len(_of_pool(above, pool.name))
        found.append(replace(pool, commands=beside, run_before=before, told=told))
    return tuple(found)


def _detaches(commands: Sequence[PoolCommand]) -> bool:
    return any(each.verb == "detach" for each in commands)


def _of_pool(commands: Sequence[PoolCommand], name: str) -> tuple[PoolCommand, ...]:
    """Return the last commands to a pool."""
    return tuple([each for each in commands if each.pool == name and each.tool == "zpool"][-MOST_BESIDE:])


@dataclass(slots=True)
class _Block:
    """Lines of one pool by key, each with its number."""

    pool: str
    number: int
    at: datetime | None = None
    lines: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    scans: list[list[str]] = field(default_factory=list)


def _blocks(text: str, name: str) -> Iterator[_Block]:
    block: _Block | None = None
    count, key = 0, ""
    begin = _POOL.search(text)
    dates = Dates(text, text.count("\n", 0, begin.start()) + 1 if begin else 0)
    for number, line in enumerate(text.split("\n"), start=1):
        match = _KEY.fullmatch(line[:4096])
        if match and match[1] == "pool":
            if block is not None:
                yield block
            count += 1
            if count > MAX_POOLS:
                raise bad_line(
                    name, number, line, f"the status of at most {MAX_POOLS} pools", "give one pool"
                )
            block, key = _Block(match[2].strip(), number, dates.at(number)), "pool"
        elif block is not None:
            key = match[1] if match else key
            if key != "config" and "config" not in block.lines and line.split()[:2] == ["NAME", "STATE"]:
                key = "config"
            _keep(block, key, number, match[2] if match else line, bool(match))
    if block is not None:
        yield block


def _keep(block: _Block, key: str, number: int, line: str, begins: bool) -> None:
    if key in ("scan", "scrub"):
        if begins:
            block.scans.append([])
        if block.scans and len(block.scans[-1]) < 8:
            block.scans[-1].append(line[:400])
    elif key == "errors":
        # Whatever follows the end of a pool's output belongs to something else.
        if begins:
            block.lines.setdefault(key, []).append((number, line))
    elif len(block.lines.setdefault(key, [])) < MAX_ROWS:
        block.lines[key].append((number, line))


def _pool(block: _Block, name: str) -> PoolStatus:
    sections = sections_of(block.lines.get("config", []), name)
    scans = [found for lines in block.scans if (found := read_scan(lines)) is not None]
    expansion = read_expansion([line for _, line in block.lines.get("expand", [])])
    removal = read_removal([line for _, line in block.lines.get("remove", [])])
    scans = with_moves(scans, expansion, removal)
    state = block.lines.get("state", [(0, "")])[0][1].split()
    root = sections.pop("", ())
    scans = [_with_rows(scan, root) for scan in scans]
    return PoolStatus(
        name=block.pool.split()[0] if block.pool.split() else "",
        state=state[0] if state else "",
        vdevs=root,
        sections=sections,
        scan=max(scans, key=lambda scan: (scan.active, _begun(scan)), default=None),
        scans=tuple(scans),
        at=block.at,
        tabbed=any(line.startswith("\t") for lines in block.scans for line in lines[1:]),
        with_bytes=any(_BYTES.search(line) for lines in block.scans for line in lines),
        complete="errors" in block.lines,
        in_a_row="errors" not in block.lines and ends_in_a_row(block.lines.get("config", [])),
        elided=elided(block.lines.get("config", [])),
        expansion=expansion,
        removal=removal,
        error_scrub=next(filter(None, map(_error_scrub, block.scans)), ""),
        data_errors=_data_errors(block.lines.get("errors", [])),
        suspended=any("currently suspended" in line for _, line in block.lines.get("errors", [])),
    )


def _begun(scan: Scan) -> datetime:
    """Return when a scan that runs began: a text may show an earlier one beside it."""
    told = (scan.since or scan.at) if scan.active and scan.function in ("resilver", "scrub") else None
    return told.replace(tzinfo=None) if told is not None else datetime.min


def counted_data_errors(count: int) -> str:
    """Return so many data errors in words; empty where there are none."""
    return f"{count} data error{'' if count == 1 else 's'}" if count else ""


def _data_errors(lines: Sequence[tuple[int, str]]) -> str:
    """Return what the line says of damaged files (zpool_main.c:print_error_log, status_callback)."""
    line = lines[-1][1].strip() if lines else ""
    counted = re.match(r"(\d{1,20}) data errors", line, re.ASCII)
    if counted:
        return counted_data_errors(int(counted[1]))
    return "permanent errors in files" if line.startswith("Permanent errors") else ""


def _error_scrub(lines: Sequence[str]) -> str:
    """Return how a scrub of the error log goes, where it runs (zpool_main.c:print_err_scrub_status)."""
    first = " ".join(lines[0].split()) if lines else ""
    if not first.startswith(("error scrub in progress", "error scrub paused")):
        return ""
    return plain("; ".join([first, *(" ".join(line.split()) for line in lines[1:3] if line.strip())]), 200)


def _with_rows(scan: Scan, vdevs: Sequence[Vdev]) -> Scan:
    """Return a resilver with the bytes that the rows of its drives tell, as before pool version 28."""
    if scan.function != "resilver" or scan.repaired is not None or scan.form != "legacy":
        return scan
    notes = (_REPAIRED.search(leaf.note) for vdev in vdevs for leaf in vdev.leaves())
    told = [size for note in notes if note and (size := nice_bytes(note[1])) is not None]
    return replace(scan, repaired=max(told)) if told else scan


def read_scan(lines: Sequence[str]) -> Scan | None:
    """Read the lines of a ``scan:`` section, the first without its key; None for ``none requested``."""
    lines = [with_digits(line) for line in lines]
    first = " ".join(lines[0].split())[:400] if lines else ""
    if first.startswith(_ERROR_SCRUB):
        return None
    folded = " ".join(" ".join(line.split()) for line in lines[:3])[:600]
    if match := _DONE.search(folded) if first else None:
        return _finished(match)
    if match := _COMPLETED.search(folded):
        return _finished_long_ago(match)
    match = _HEAD.search(first)
    if match is None:
        return None
    if ran := _FOR.search(first):
        return _running_long_ago(ran, folded)
    states: dict[str, ScanState] = {"in progress": "running", "paused": "paused", "canceled": "canceled"}
    function: Function = "rebuild" if match[2] else _FUNCTIONS[match[1]]
    rest = " ".join(" ".join(line.split()) for line in lines[1:4])[:1000]
    date, behind = _dated(first[match.start(4) :].strip())
    rest = f"{behind} {rest}".strip()
    started = _STARTED.search(rest)
    since = moment(started[1]) if started else None
    scan = Scan(function, states[match[3]], date=date, at=moment(date), since=since, vdev=match[2] or "")
    return _with_progress(scan, rest)


def _dated(text: str) -> tuple[str, str]:
    """Return a date, and what stands behind it where somebody has put all in one line."""
    if printed := _DATE.match(text):
        return printed[0], text[printed.end() :].strip(" ,;\t")
    date, mark, behind = text.partition(",")
    return (date, behind.strip()) if mark and moment(date) is not None else (text[:80], "")


_FUNCTIONS: dict[str, Function] = {"scrub": "scrub", "resilver": "resilver", "rebuild": "rebuild"}


def _alone(text: str) -> str:
    """Return a date without what somebody has written behind it."""
    date = _DATE.search(text)
    return date[0] if date else text.strip()


def _finished_long_ago(match: re.Match[str]) -> Scan:
    """Return a scan that is over, as releases before pool version 28 print it."""
    date = _alone(match[4] or "")
    return Scan(
        _FUNCTIONS[match[1]], "finished", form="legacy", date=date, at=moment(date),
        elapsed=duration(match[2]), errors=whole(match[3]),
    )  # fmt: skip


def _running_long_ago(match: re.Match[str], text: str) -> Scan:
    """Return a scan that runs, as releases before pool version 28 print it: time and share, no date."""
    share = _DONE_SHARE.search(text)
    scan = Scan(_FUNCTIONS[match[1]], "running", form="legacy", elapsed=duration(match[2] or ""))
    return replace(_with_progress(scan, text), form="legacy", done=percentage(share[1]) if share else None)


def _finished(match: re.Match[str]) -> Scan:
    rebuilt = bool(match[2]) or match[1] == "rebuilt"
    function: Function = "scrub" if match[1].startswith("scrub") else "rebuild" if rebuilt else "resilver"
    date = _alone(match[6] or "")
    return Scan(
        function,
        "finished",
        form=_form_of_duration(match[4]),
        date=date,
        at=moment(date),
        repaired=nice_bytes(match[3]),
        elapsed=duration(match[4]),
        errors=whole(match[5]),
    )


def _form_of_duration(text: str) -> str:
    """Return the family by how a duration is printed; days that are not 0 leave it open."""
    if re.fullmatch(r"\d{1,6}h\d{1,2}m", text, re.ASCII):
        return "legacy"
    if text.startswith("0 days"):
        return "0.8"
    return "2.0+" if re.fullmatch(r"\d\d:\d\d:\d\d", text, re.ASCII) else ""


def _with_progress(scan: Scan, text: str) -> Scan:
    """Return the scan with what the lines behind its first one say."""
    values: dict[str, object] = {}
    if match := _SLASHED.search(text):
        names = ("scanned", "total", "scan_rate", "issued", "total_issued", "issue_rate")
        values = _credible({"form": "2.2"} | _sizes(names, match))
    elif match := _ISSUED.search(text):
        values = _sizes(("scanned", "scan_rate", "issued", "issue_rate", "total"), match)
        values["total_issued"] = values["total"]
        values = _credible(values)
    elif match := _OUT_OF.search(text):
        values = {"form": "legacy"} | _sizes(("scanned", "total", "scan_rate"), match)
    elif match := _CUT_OFF.search(text):
        values = _sizes(("scanned", "total", "scan_rate"), match)
        values["form"] = "2.2" if match[2] else "0.8+"
    elif match := _SCANNED.search(text):
        values = {"form": "solaris"} | _sizes(("scanned",), match)
        values["total"] = values["scanned"]
    return _with_repair(scan, values, text)


def _credible(values: dict[str, object]) -> dict[str, object]:
    """Return counters without the one that cannot be: what is issued has been scanned before."""
    scanned, issued, total = (float(str(values[name] or 0)) for name in ("scanned", "issued", "total"))
    if scanned >= LEAST_SCANNED * issued:
        return values
    if issued > MOST_ISSUED * total >= total >= LEAST_SCANNED * scanned:
        # What was issued before was added again and again (#7720, #8800), or has gone below zero; what is
        # scanned is issued soon (dsl_scan.c:zfs_scan_checkpoint_intval).
        return values | {"issued": values["scanned"], "issue_rate": values["scan_rate"]}
    # A digit was lost before the first number.
    return values | {"scanned": None, "scan_rate": None}


def _with_repair(scan: Scan, values: dict[str, object], text: str) -> Scan:
    if match := _REPAIRED.search(text):
        values |= {"repaired": nice_bytes(match[1]), "done": percentage(match[3])}
        if match[2]:
            values["issue_rate"] = nice_bytes(match[2])
        if values.get("form") == "legacy" and scan.function == "resilver" and not match[3]:
            # All others print a share beside the bytes; Solaris 11.2 none while it collects blocks.
            wrote, met = (float(str(values.get(name) or 0)) for name in ("repaired", "scanned"))
            values["form"] = "solaris" if wrote < COLLECTS * met else "legacy"
    elif match := _DONE_SHARE.search(text):
        values["done"] = percentage(match[1])
    if match := _TO_GO.search(text):
        values["to_go"] = duration(match[1])
        form = {"0.8": "0.8", "2.0+": "2.0", "legacy": "legacy"}.get(_form_of_duration(match[1]), "0.8+")
        values.setdefault("form", form)
    elif "issued" in values:
        values.setdefault("form", "0.8+")
    names = {name: getattr(scan, name) for name in scan.__dataclass_fields__}
    return Scan(**(names | values))


def _sizes(names: Sequence[str], match: re.Match[str]) -> dict[str, object]:
    return {name: nice_bytes(text) for name, text in zip(names, match.groups(), strict=True)}


def under_one_name(statuses: Sequence[PoolStatus]) -> list[PoolStatus]:
    """Return statuses, those of a pool that was renamed between them under the name that it had last.

    Two are of one pool if they show the same drives, and a scan of the same kind that began at the same time:
    pools of two hosts may both have an sda.
    """
    found = list(statuses)
    last: dict[tuple[object, ...], str] = {}
    for each in found:
        last |= dict.fromkeys(_identities(each), each.name)
    names = [next((last[one] for one in _identities(each)), each.name) for each in found]
    return [
        replace(each, name=name, renamed=each.renamed or each.name != name)
        for each, name in zip(found, names, strict=True)
    ]


def _identities(status: PoolStatus) -> list[tuple[object, ...]]:
    """Return by what a pool is known again, whatever its name: its drives, with each of its scans."""
    drives = tuple(leaf.name for vdev in status.vdevs for leaf in vdev.leaves())
    return [
        (drives, scan.function, begun)
        for scan in status.scans
        if drives and scan.active and (begun := scan.since or scan.at) is not None
    ]
