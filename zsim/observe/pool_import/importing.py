"""Import a real pool: from the output of zpool and zdb to a scenario."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.files import replace_files
from zsim.base.parsed import number_of, tables
from zsim.base.units import format_both, format_bytes, format_duration, format_fraction
from zsim.case.case import CaseAssumption
from zsim.case.resolve import resolve
from zsim.observe.devices.asking import FREEBSD_NAME, SOLARIS_NAME
from zsim.observe.evidence.pool_events import PoolEvents
from zsim.observe.evidence.pool_history import PoolHistory
from zsim.observe.pool_import.blocks import find_blocks
from zsim.observe.pool_import.find_drives import find_drives
from zsim.observe.pool_import.finding import Finding, PoolOutputs
from zsim.observe.pool_import.gaps import HALTED, is_gap, unknown_notes
from zsim.observe.pool_import.gather import drive_places, find_observations, in_order
from zsim.observe.pool_import.given.files import OnProgress, PoolFiles, paths_of, read_files, read_pasted
from zsim.observe.pool_import.given.pasted_forms import UNKNOWN
from zsim.observe.pool_import.larger import find_larger
from zsim.observe.pool_import.layout import Tops, find_layout, pairs_of
from zsim.observe.pool_import.release import drive_names, find_release
from zsim.observe.pool_import.space import find_space
from zsim.observe.pool_import.tables import block_table, metaslab_table
from zsim.observe.texts import plain
from zsim.observe.zdb.pointers import PointerTable
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import GONE, PAIRS, Vdev
from zsim.scenario.files import apply_overrides, names_set
from zsim.scenario.model import Scenario
from zsim.scenario.words import CAPACITIES, DATA_SIZES, SHARES

SUFFIX = ".toml"
SUSPENDED = (
    f"{HALTED}: nothing is read, written or repaired until its drives are back and zpool clear is"
    " run; the prediction counts from then"
)


@dataclass(frozen=True, slots=True)
class ImportedPool:
    """What an import gives.

    Attributes
    ----------
    pool : str
        Its name.
    scenario : Scenario
    findings : tuple of Finding
        Fields of the scenario and what they were taken from.
    assumptions : tuple of CaseAssumption
        What nothing told, and what `zsim predict` takes for it.
    notes : tuple of str
        What was found and could not be used, and what was left out.
    progress : Scan or None
        The scan that runs or was the last.
    waiting : int
        Drives of the vdev under repair that await a resilver of their own.
    waiting_beside : int
        The same of other vdevs like that one.
    beside : tuple of mapping
        Other vdevs of which the running scan fills drives too, as `running` of a plan states them.
    places : mapping of str to tuple of int
        By the name of a drive: its top-level vdev and its place there, as the scenario counts both.
    vdev_names : tuple of str
        Names of the top-level vdevs, in the order of the scenario.
    contents : mapping of str to list of str
        By file: the formats found in it.
    tables : dict of str to bytes
        Side files by what is put between the name and its ending.
    block_list : Path or None
        Where the list of all blocks was written.
    """

    pool: str
    scenario: Scenario
    findings: tuple[Finding, ...]
    assumptions: tuple[CaseAssumption, ...]
    notes: tuple[str, ...]
    progress: Scan | None
    contents: dict[str, list[str]]
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)
    block_list: Path | None = None
    waiting: int = 0
    waiting_beside: int = 0
    beside: tuple[Mapping[str, object], ...] = ()
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)
    vdev_names: tuple[str, ...] = ()

    def to_toml(self, named: Mapping[str, str] | None = None) -> str:
        """Return the scenario as TOML, with what it was taken from and the state of the scan as comments.

        `named` are the side files, by field of the scenario.
        """
        lines = ["# A pool imported by zsim.  Taken from:"]
        lines += [_comment(_found_line(found)) for found in self.findings]
        if self.progress is not None:
            lines.append(_comment(f"scan: {scan_words(self.progress)}"))
        lines += [_comment(f"note: {note}") for note in self.notes]
        return "\n".join(lines) + "\n\n" + self.scenario.changed(named or {}).to_toml()

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON; numbers in SI."""
        return {
            "pool": self.pool,
            "files": self.contents,
            "scenario": self.scenario.stated(),
            "findings": [found.to_dict() for found in self.findings],
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
            "notes": list(self.notes),
            "progress": scan_dict(self.progress) if self.progress is not None else None,
        }

    def write(self, path: str | Path) -> list[Path]:
        """Write the scenario and the side files, all or none of them; return what was written.

        Parameters
        ----------
        path : str or Path
            Of the scenario.  The side files have ``.blocks.csv`` and ``.metaslabs.csv`` for its ``.toml``;
            the scenario names them, and the list of blocks where one was kept.
        """
        target = Path(path)
        sides: dict[str | Path, bytes] = {}
        named = {}
        for name, content in self.tables.items():
            side = beside(target, name)
            sides[side] = content
            named[name.partition(".")[0]] = side.name
        if self.block_list is not None:
            same = self.block_list.parent.resolve() == target.parent.resolve()
            named["block_list"] = self.block_list.name if same else str(self.block_list.resolve())
        replace_files({**sides, target: self.to_toml(named).encode()})
        return [target, *map(Path, sides)]


def import_pool(
    names: Sequence[str | Path],
    *,
    pool: str | None = None,
    blocks: str | Path | None = None,
    overrides: Sequence[str] = (),
    on_progress: OnProgress | None = None,
    stated: Collection[str] = (),
) -> ImportedPool:
    """Read the outputs of a pool's commands.

    Parameters
    ----------
    names : sequence of str or Path
        Files and directories, in any order.
    pool : str, optional
        Name of the pool, where they are about several.
    blocks : str or Path, optional
        Parquet file to write the list of block pointers to, if one is there.
    overrides : sequence of str
        ``KEY=VALUE``: fields that are known better.
    on_progress : callable, optional
        Is called with the share of a long file read, and words.
    stated : collection of str
        Fields that are stated elsewhere: nothing is said of what the files do not tell of them.  Of a
        mapping to their values ``layout`` counts where no file shows the vdevs.

    Raises
    ------
    InputError
        When a file cannot be read, or what is needed is in none of them.
    """
    paths = paths_of(names)
    with PointerTable(blocks) if blocks is not None else nullcontext() as table:
        return import_files(read_files(paths, table, on_progress), pool, overrides, table, stated)


def import_pasted(
    text: str,
    *,
    pool: str | None = None,
    overrides: Sequence[str] = (),
    name: str = "text",
    stated: Collection[str] = (),
) -> ImportedPool:
    """Read outputs of a pool's commands from one text, whatever stands between them.

    Parameters
    ----------
    text : str
    pool : str, optional
        Name of the pool, where the text is about several.
    overrides : sequence of str
        ``KEY=VALUE``: fields that are known better.
    name : str
        Of the text, for messages.
    stated : collection of str
        Fields that are stated elsewhere: nothing is said of what the text does not tell of them.

    Raises
    ------
    InputError
        When nothing in it is known, or what is needed is not in it.
    """
    return import_files(read_pasted(text.encode("utf-8", "replace"), name), pool, overrides, stated=stated)


def import_beside(
    text: str | None,
    names: Sequence[str | Path],
    *,
    pool: str | None = None,
    stated: Collection[str] = (),
) -> ImportedPool:
    """Read outputs of a pool's commands from files, and from a text that was piped beside them.

    Parameters
    ----------
    text : str, optional
        What was piped or pasted.
    names : sequence of str or Path
        Files, directories and archives.
    pool : str, optional
        Name of the pool, where they are about several.
    stated : collection of str
        Fields that are stated elsewhere: nothing is said of what they do not tell of them.

    Raises
    ------
    InputError
        When nothing in them is known, or what is needed is not in them.
    """
    if text is None:
        return import_pool(names, pool=pool, stated=stated)
    with tempfile.TemporaryDirectory() as folder:
        pasted = Path(folder) / "pasted.txt"
        pasted.write_text(text, encoding="utf-8")
        return import_pool([*names, pasted], pool=pool, stated=stated)


def import_files(
    files: PoolFiles,
    pool: str | None,
    overrides: Sequence[str],
    table: PointerTable | None = None,
    stated: Collection[str] = (),
) -> ImportedPool:
    """Return the scenario of what was found in files; see `import_pool`."""
    known = {*stated, *names_set(overrides)}
    outputs = _outputs(files, pool)
    outputs.layout_beside = _layout_beside(stated, overrides)
    noted = len(outputs.notes)
    find_release(outputs)
    if known & {"release", "product"}:
        del outputs.notes[noted:]  # what is assumed or judged of it is not what is used
    tops = find_layout(outputs)
    find_drives(outputs)
    find_space(outputs, tops)
    find_larger(outputs, tops)
    find_blocks(outputs, tops)
    _find_host(outputs)
    find_observations(outputs, tops)
    _note_unused(outputs)
    # What is not known comes first, a layout that is assumed before all else.
    outputs.notes += unknown_notes(outputs, known)
    outputs.notes.sort(key=lambda note: not is_gap(note))
    imported = _imported(outputs, tops, overrides)
    if table is None or not table.begun:
        return imported
    table.describe({"zsim.vdevs": json.dumps(tops.ids), "zsim.pool": imported.pool})
    return replace(imported, block_list=_usable_list(outputs, table.path, imported))


def _layout_beside(stated: Collection[str], overrides: Sequence[str]) -> str | None:
    """Return the layout that is stated beside the files, if its value is given."""
    fields = stated if isinstance(stated, Mapping) else {}
    layout = apply_overrides({}, overrides).get("layout", fields.get("layout"))
    return None if layout is None else str(layout)


def _usable_list(outputs: PoolOutputs, path: Path, imported: ImportedPool) -> Path | None:
    """Return the path of the list of blocks if a scenario can be simulated on it."""
    return None if imported.scenario.fill is not None else path


def beside(path: Path, name: str) -> Path:
    """Return the side file of a scenario: ``blocks.csv`` beside pool.zsim.toml is pool.zsim.blocks.csv."""
    stem = path.name.removesuffix(SUFFIX)
    return path.with_name(f"{stem}.{name}")


def _outputs(files: PoolFiles, pool: str | None) -> PoolOutputs:
    """Return what there is about one pool."""
    files = files.with_lists_of_the_same() if pool is not None else files.under_one_name()
    names = files.pools()
    if pool is not None and pool not in names:
        reason = f"the files are about {plain(', '.join(names) or 'no named pool', 200)}"
        raise InputError("--pool", pool, reason, "name one of these")
    taken, why = (next(iter(names), ""), "") if len(names) < 2 else _asked_of(files)
    if pool is None and len(names) > 1 and not taken:
        reason = f"the files are about {plain(', '.join(names), 200)}"
        shown = next((each.name for each in files.statuses if each.name in names), names[0])
        remedy = f"name one: zsim import --pool {plain(shown)}, or give the output about one alone"
        raise InputError("pool", None, reason, remedy)
    name = pool if pool is not None else taken
    lists = [each for each in files.lists if each.name == name]
    configs = [each for each in files.configs if each.name == name]
    statuses = in_order([status for status in files.statuses if status.name in (name, UNKNOWN)])
    found = PoolOutputs(
        files,
        _latest(statuses),
        # Of several the last one: a pool grows.
        max(reversed(lists), key=lambda each: len(each.vdevs), default=None),
        max(configs, key=lambda each: each.complete, default=None),
        statuses=statuses,
        histories=[each for each in files.of(PoolHistory) if each.name in (name, "") or not name],
        events=[each for each in files.of(PoolEvents) if each.name in (name, "") or not name],
    )
    if files.lists and not lists and statuses:
        others = plain(", ".join(dict.fromkeys(each.name for each in files.lists)), 200)
        found.notes.append(
            f"zpool list shows {others} and not {plain(name)}, and is left out: what it shows does not"
            " agree with the status"
        )
    if pool is None and len(names) > 1:
        found.notes.append(
            f"of the pools {plain(', '.join(names), 200)} the one {why} is taken, {plain(name)}:"
            " zsim import --pool names another"
        )
    return found


def _asked_of(files: PoolFiles) -> tuple[str, str]:
    """Return which of several pools is asked about, and why: empty where nothing tells.

    The only one on which a scan runs, else the only one that is not ONLINE, else the only one with a status;
    not one that the lists do not show.
    """
    listed = {each.name for each in files.lists}
    pools = set(files.pools())
    known = pools & listed if listed else pools
    runs = pools & {each.name for each in files.statuses if any(scan.active for scan in each.scans)}
    states = {each.name: each.health for each in files.lists if each.health}
    states |= {each.name: each.state for each in files.statuses}
    wanted = runs or {name for name, state in states.items() if state not in ("", "ONLINE")}
    shown = pools & {each.name for each in files.statuses}
    if len(wanted) == 1 and wanted <= known and (runs or pools <= set(states)):
        return next(iter(wanted)), "in trouble"
    if len(shown) == 1 and shown <= known and not wanted:
        return next(iter(shown)), "whose status is shown"
    return "", ""


def _latest(statuses: Sequence[PoolStatus]) -> PoolStatus | None:
    """Return the last status in which a scan runs, else the last one."""
    running = [each for each in statuses if each.scan is not None and each.scan.active]
    return next(reversed(running or list(statuses)), None)


def _find_host(outputs: PoolOutputs) -> None:
    host, names = outputs.files.host.version, drive_names(outputs)
    for system, said, form in (("freebsd", "FreeBSD", FREEBSD_NAME), ("illumos", "SunOS", SOLARIS_NAME)):
        if host.startswith(said):
            outputs.find("platform", system, f"version {host}")
        elif names and all(map(form.fullmatch, names)):
            outputs.find("platform", system, "names of the drives", inferred=True)
    outputs.find("memory", outputs.files.host.memory, "memory of the host")
    outputs.find("cpus", outputs.files.host.cpus, "processors of the host")


def _note_unused(outputs: PoolOutputs) -> None:
    """Note what was found for which a scenario has no field."""
    config, status, listed = outputs.config, outputs.status, outputs.listed
    sections = set(listed.classes) if listed is not None else set()
    sections |= {key for key, vdevs in status.sections.items() if vdevs} if status is not None else set()
    classes = sections | (set(config.others) if config is not None else set())
    for name, words in (
        ("dedup", "deduplication tables are not simulated, so nothing is read from the dedup vdev"),
        ("removing", "a vdev that is being removed is left out"),
    ):
        repaired = name == "dedup" and status is not None and status.of_dedup_alone
        if name in classes and not repaired:
            outputs.notes.append(words)
    if status is not None and status.error_scrub:
        outputs.notes.append(
            f"{status.error_scrub}: it reads only the blocks in the error log, and is not predicted"
        )
    scan = status.scan if status is not None else None
    if status is not None and status.state == "SUSPENDED" and (scan is None or not scan.active):
        outputs.notes.append(SUSPENDED)
    if scan is not None and scan.state == "finished" and scan.errors:
        outputs.notes.append(
            _errors_left(scan, any(pairs_of(vdev) for vdev in status.vdevs) if status else False)
        )
    if scan is not None and status is not None and scan.active and scan.function == "scrub":
        outputs.notes += _scrub_of_a_part(status)
    unknown = [name for name, formats in outputs.files.contents.items() if not formats]
    if unknown:
        outputs.notes.append(f"in no known format and left out: {plain(', '.join(unknown), 300)}")
    pointers = outputs.files.pointers
    if pointers is not None and pointers.malformed:
        where = f"the first is line {pointers.first_malformed}"
        outputs.notes.append(
            f"{pointers.malformed} block pointers could not be read ({where}) and are left out"
        )


def _scrub_of_a_part(status: PoolStatus) -> list[str]:
    """Return what is to be said of a scrub that was asked for blocks of some age (zpool-scrub(8), 2.4)."""
    orders = [each for each in status.commands if each.verb == "scrub"]
    options = {name for name, _ in orders[-1].options} & {"-S", "-E", "-C"} if orders else set()
    if not options:
        return []
    told = " and ".join(sorted(options, reverse=True))
    return [
        f"NOT A WHOLE SCRUB: with {told} only blocks written in that time are read, and nothing shows how"
        " many these are: it may end at any percentage, and takes no longer than the whole that is predicted"
    ]


def _errors_left(scan: Scan, paired: bool) -> str:
    """Return what is to be said of a scan that could not read all."""
    words = f"the last {scan.function} ended with {scan.errors} error{'s' if scan.errors != 1 else ''}:"
    words += " what it could not read is damaged, and zpool status -v names the files"
    if scan.function != "scrub" and paired:
        words += (
            ". The old drive stays beside the new one until these are restored or deleted and a further pass"
            " (zpool scrub, zpool clear) ends without any: such a pass is predicted"
        )
    return words


def _imported(outputs: PoolOutputs, tops: Tops, overrides: Sequence[str]) -> ImportedPool:
    stated = {name: found.value for name, found in outputs.findings.items()}
    scenario = Scenario.from_dict(stated).with_overrides(overrides)
    resolved = resolve(scenario)
    kept = scenario.stated()
    status, files = outputs.status, outputs.files
    shown = (outputs.listed, status, outputs.config, outputs.built)
    named = [each.name for each in shown if each is not None]
    tables = {"blocks.csv": block_table(files), "metaslabs.csv": metaslab_table(files, tops.ids)}
    return ImportedPool(
        pool=plain(next((each for each in named if each != UNKNOWN), "")),
        scenario=scenario,
        findings=tuple(found for name, found in outputs.findings.items() if kept.get(name) is not None),
        assumptions=resolved.assumptions,
        notes=tuple(outputs.notes),
        progress=status.scan if status is not None else None,
        waiting=_waiting(status),
        waiting_beside=_waiting_beside(status),
        beside=tuple(_beside(status, drive_places(outputs, tops))),
        places=drive_places(outputs, tops),
        vdev_names=tuple(plain(tops.vdevs[place].name) for place in tops.order),
        contents=files.contents,
        tables={name: content for name, content in tables.items() if content},
    )


def _waiting(status: PoolStatus | None) -> int:
    """Return how many drives of the vdev under repair await a resilver of their own.

    In its first minutes none is called resilvering: what has been written is counted from the first block on.
    """
    under_repair = _under_repair(status)
    return sum(leaf.waits for leaf in under_repair[0].leaves()) if under_repair else 0


def _waiting_beside(status: PoolStatus | None) -> int:
    """Return how many drives of other vdevs await a resilver, if these are like the one under repair."""
    under_repair = _under_repair(status)
    if status is None or not under_repair:
        return 0
    first = under_repair[0]
    counts = {vdev: sum(leaf.waits for leaf in vdev.leaves()) for vdev in status.vdevs}
    others = [vdev for vdev, count in counts.items() if count and vdev not in under_repair]
    shapes = {(each.kind, each.parity, each.drives) for each in (first, *others)}
    return sum(counts[vdev] for vdev in others) if len(shapes) == 1 else 0


def _beside(status: PoolStatus | None, places: Mapping[str, tuple[int, int]]) -> Iterator[dict[str, object]]:
    """Yield the other vdevs of which the scan that runs fills drives, as a plan states them."""
    scan = status.scan if status is not None else None
    if scan is None or not scan.active or scan.function != "resilver":
        return
    for vdev in _under_repair(status):
        slots = vdev.children if vdev.kind not in PAIRS and vdev.children else (vdev,)
        filled = [slot for slot in slots if any(leaf.resilvering for leaf in slot.leaves())]
        found = [places[leaf.name] for slot in filled for leaf in slot.leaves() if leaf.name in places]
        numbers = {number for number, _ in found}
        if len(numbers) == 1 and numbers != {0}:
            old = (leaf for slot in filled for leaf in slot.leaves() if not leaf.resilvering)
            state = "missing" if all(leaf.state in GONE for leaf in old) else "online"
            drives = tuple(sorted({place for _, place in found}))
            yield {"vdev": numbers.pop(), "drives": drives, "old_drive": state}


def _under_repair(status: PoolStatus | None) -> list[Vdev]:
    """Return the vdevs that the scan repairs."""
    vdevs = status.vdevs if status is not None else ()
    under_repair = [vdev for vdev in vdevs if any(leaf.resilvering for leaf in vdev.leaves())]
    if not under_repair and status is not None and status.scan is not None and status.scan.active:
        under_repair = [v for v in vdevs if any(not pair.children[-1].waits for pair in pairs_of(v))]
    return under_repair


def found_text(found: Finding) -> str:
    """Return the value of a finding for a person."""
    if found.field == "evidence":
        return evidence_words(tables({"evidence": found.value}, "evidence"))
    values = found.value if isinstance(found.value, list) else [found.value]
    if found.field not in _FORMATS:
        return ", ".join(map(str, values))
    return ", ".join(_FORMATS[found.field](number_of(value, found.field)) for value in values)


def evidence_words(stated: Sequence[Mapping[str, object]]) -> str:
    """Return how much of which kind there is, for a person."""
    kinds = {
        "finished": "finished scan", "running": "state of a running scan", "drive": "drive observed",
        "benchmark": "benchmark", "class": "class of vdevs",
    }  # fmt: skip
    counts = {words: sum(each["what"] == what for each in stated) for what, words in kinds.items()}
    plural = {
        "state of a running scan": "states of a running scan",
        "drive observed": "drives observed",
        "class of vdevs": "classes of vdevs",
    }
    return ", ".join(
        f"{count} {words if count == 1 else plural.get(words, f'{words}s')}"
        for words, count in counts.items()
        if count
    )


_FORMATS: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(DATA_SIZES, format_bytes),
    **dict.fromkeys(CAPACITIES, format_both),
    **dict.fromkeys(SHARES, format_fraction),
}


def _found_line(found: Finding) -> str:
    return f"{found.field}: {found.source}{' (inferred)' if found.inferred else ''}"


def scan_words(scan: Scan) -> str:
    """Return the state of a scan as one line for a person."""
    date = f" {'since' if scan.active else 'on'} {plain(scan.date)}" if scan.date else ""
    parts = [f"{scan.function} {scan.state}{date}"]
    of_all = f" of {format_bytes(scan.total)}" if scan.total is not None else ""
    for words, size in (("scanned", scan.scanned), ("issued", scan.issued)):
        if size is not None:
            parts.append(f"{format_bytes(size)}{of_all} {words}")
    if scan.repaired is not None:
        parts.append(
            f"{format_bytes(scan.repaired)} {'repaired' if scan.function == 'scrub' else 'resilvered'}"
        )
    if scan.done is not None:
        parts.append(f"{format_fraction(scan.done)} done")
    if scan.to_go is not None:
        parts.append(f"{format_duration(scan.to_go)} to go by zpool's estimate")
    if scan.elapsed is not None:
        parts.append(f"took {format_duration(scan.elapsed)}")
    return ", ".join(parts)


def scan_dict(scan: Scan) -> dict[str, object]:
    """Return a scan as plain data: sizes in bytes, times in seconds."""
    return asdict(scan, dict_factory=_with_dates_as_text) | {"date": plain(scan.date)}


def _with_dates_as_text(fields: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Return the fields of a record, of one that another holds too, with moments as JSON has them."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields}


def _comment(text: str) -> str:
    return f"# {plain(text, 400)}"
