"""The files that describe a pool: each is recognised by what is in it, and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import facts_of, is_directory, understood
from zsim.observe.devices.identity import Inventory
from zsim.observe.devices.reading import read_drives
from zsim.observe.documents import split_documents
from zsim.observe.evidence import benchmarks, host_iostat, pool_events, pool_history, pool_iostat
from zsim.observe.evidence.activity import Samples
from zsim.observe.evidence.pool_events import PoolEvents
from zsim.observe.evidence.pool_history import PoolHistory
from zsim.observe.pool_import import host_facts
from zsim.observe.pool_import.host_facts import HostFacts
from zsim.observe.texts import decoded, opened, plain, whole_text
from zsim.observe.zdb import blocks, configuration, metaslabs, pointers
from zsim.observe.zdb.blocks import BlockStatistics
from zsim.observe.zdb.configuration import PoolConfig
from zsim.observe.zdb.metaslabs import Metaslabs
from zsim.observe.zdb.pointers import PointerSummary, PointerTable
from zsim.observe.zpool import listing, listing_json, properties, status, status_json
from zsim.observe.zpool.listing import PoolList
from zsim.observe.zpool.properties import Setting
from zsim.observe.zpool.status import PoolStatus
from zsim.scenario.evidence import Benchmark

HEAD = 256 << 10
MAX_FILES = 1000
REMEDY = (
    "give the outputs of zpool list -vHp, zpool status and zdb -C as docs/how-to/import-a-pool.md lists them"
)

OnProgress = Callable[[float, str], None]
"""Is called with the share of a file read and its name."""


@dataclass(slots=True)
class PoolFiles:
    """What was found in the files.

    Attributes
    ----------
    statuses, lists, configs : list
        By pool, in the order of the files.
    statistics, metaslabs, pointers : None if there was no such file
    host : HostFacts
    contents : dict of str to list of str
        By file: the formats found in it; empty where none was.
    inventory : Inventory
        What is known of the host's drives.
    histories, events, activity, benchmarks : list
        What `zsim.observe.evidence` reads.
    settings : list of Setting
        Of ``zfs get``.
    notes : list of str
        Sentences about what could not be used.
    """

    statuses: list[PoolStatus] = field(default_factory=list)
    lists: list[PoolList] = field(default_factory=list)
    configs: list[PoolConfig] = field(default_factory=list)
    statistics: BlockStatistics | None = None
    metaslabs: Metaslabs | None = None
    pointers: PointerSummary | None = None
    host: HostFacts = field(default_factory=HostFacts)
    contents: dict[str, list[str]] = field(default_factory=dict)
    inventory: Inventory = field(default_factory=Inventory)
    histories: list[PoolHistory] = field(default_factory=list)
    events: list[PoolEvents] = field(default_factory=list)
    activity: list[Samples] = field(default_factory=list)
    benchmarks: list[Benchmark] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def pools(self) -> list[str]:
        """Return the names of the pools, each once."""
        listed = [each.name for each in self.lists]
        named = [*listed, *(each.name for each in self.statuses), *(each.name for each in self.configs)]
        if not named:
            named = [*(each.name for each in self.histories), *(each.name for each in self.events)]
        return [name for name in dict.fromkeys(named) if name]


def paths_of(names: Sequence[str | Path]) -> list[Path]:
    """Return the files named, ``-`` as the standard input, those of directories in the order of their names.

    Raises
    ------
    InputError
        When one does not exist, or there are none or too many.
    """
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if name == "-":
            found.append(path)
            continue
        facts = facts_of(path, "file", REMEDY)
        if is_directory(facts):
            found += files_in(path)
        elif facts is not None:
            found.append(path)
        else:
            raise InputError("file", str(name), "there is no such file or directory", REMEDY)
    if not 0 < len(found) <= MAX_FILES:
        raise InputError("files", len(found), f"from 1 to {MAX_FILES} files are expected", REMEDY)
    return found


def files_in(directory: Path, pattern: str = "*") -> list[Path]:
    """Return the regular files of a directory that are not hidden, in the order of their names.

    Raises
    ------
    InputError
        When it cannot be listed.
    """
    try:
        return sorted(each for each in directory.glob(pattern) if each.is_file() and each.name[0] != ".")
    except OSError as error:
        reason = (error.strerror or "it cannot be listed").lower()
        raise InputError("directory", str(directory), reason, REMEDY) from error


def read_files(
    paths: Sequence[Path], table: PointerTable | None = None, on_progress: OnProgress | None = None
) -> PoolFiles:
    """Read files in any order; those in no known format are noted as such.

    Parameters
    ----------
    paths : sequence of Path
    table : PointerTable, optional
        Receives the list of block pointers.
    on_progress : callable, optional

    Raises
    ------
    InputError
        When one cannot be read, or none is in a known format.
    """
    files = PoolFiles()
    for path in paths:
        files.contents[_title(path, files)] = _read_file(path, files, table, on_progress)
    if not any(files.contents.values()):
        names = plain(", ".join(files.contents), 200)
        raise InputError("files", names, "none is the output of zpool or zdb as known here", REMEDY)
    return files


def _title(path: Path, files: PoolFiles) -> str:
    """Return the name of a file for messages, with its directory if the name alone is taken."""
    name = plain(path.name) if path.name != "-" else "stdin"
    return name if name not in files.contents else plain(str(path), 200)


def _read_file(
    path: Path, files: PoolFiles, table: PointerTable | None, on_progress: OnProgress | None
) -> list[str]:
    name = plain(path.name) if path.name != "-" else "stdin"
    with opened(path) as stream:
        head = stream.read(HEAD)
        if not pointers.recognises(head):
            return read_text(whole_text(name, stream, head), name, files)
        if files.pointers is not None:
            raise InputError("file", name, "there is a list of block pointers already", "give one of the two")
        tell = _teller(path, on_progress)
        files.pointers = pointers.read_pointers(stream, name, head, table, tell)
    return ["zdb -Lbbbbb", *read_text(files.pointers.other_text, name, files)]


def _teller(path: Path, on_progress: OnProgress | None) -> Callable[[int], None] | None:
    """Return what tells the share of a file that was read; of a packed one the size is not known."""
    if on_progress is None:
        return None
    total = path.stat().st_size * (8 if path.suffix in (".gz", ".zst") else 1)
    return lambda done: on_progress(min(done / max(total, 1), 1.0), f"reading {plain(path.name)}")


def read_text(text: str, name: str, files: PoolFiles) -> list[str]:
    """Read a text in which several outputs may stand one after the other; return the formats found."""
    with understood(name, "file", "leave it out, or paste it again"):
        return _read_outputs(text, name, files)


def _read_outputs(text: str, name: str, files: PoolFiles) -> list[str]:
    documents, rest = split_documents(text)
    if not documents and status_json.recognises(text):
        # It begins like JSON and is none: the reader says where it breaks off.
        files.statuses += status_json.read_status_json(text, name)
    found = [title for document in documents for title in _read_document(document, name, files)]
    found += [title for title, recognises, read in _READERS if recognises(rest) and read(rest, name, files)]
    found += read_drives(rest, files.inventory)
    host = host_facts.read_host(rest)
    if host != HostFacts() and not (_FROM_ZDB & set(found)):
        files.host = _merged(files.host, host)
        found.append("version and host")
    return list(dict.fromkeys(found))


_FROM_ZDB = frozenset(("zdb -C", "zdb -b", "zdb -m"))


def _read_document(text: str, name: str, files: PoolFiles) -> list[str]:
    """Read one JSON document."""
    if benchmarks.recognises(text):
        return ["fio"] if _benchmarks(text, name, files) else []
    if listing_json.recognises(text):
        files.lists += listing_json.read_list_json(text, name)
        return ["zpool list -j"]
    if status_json.recognises(text):
        files.statuses += status_json.read_status_json(text, name)
        return ["zpool status -j"]
    host = host_facts.read_host("\n".join(re.findall(r"zfs-kmod-[\w.-]{3,40}", text[:4096])))
    if host.version:
        files.host = _merged(files.host, host)
        return ["zfs version -j"]
    return read_drives(text, files.inventory)


def _merged(old: HostFacts, new: HostFacts) -> HostFacts:
    return HostFacts(
        old.version or new.version,
        old.release if old.version else new.release,
        old.memory or new.memory,
        old.cpus or new.cpus,
    )


def _status(text: str, name: str, files: PoolFiles) -> bool:
    files.statuses += status.read_status(text, name)
    return True


def _list(text: str, name: str, files: PoolFiles) -> bool:
    files.lists += listing.read_list(text, name)
    return True


def _config(text: str, name: str, files: PoolFiles) -> bool:
    files.configs += configuration.read_config(text, name)
    return True


def _statistics(text: str, name: str, files: PoolFiles) -> bool:
    found = blocks.read_statistics(text, name)
    old = files.statistics
    if old is None:
        files.statistics = found
    else:
        more = sum(len(row.psizes) for row in found.rows) > sum(len(row.psizes) for row in old.rows)
        files.statistics = BlockStatistics(
            found.rows if more or not old.rows else old.rows,
            old.sizes or found.sizes,
            old.allocated or found.allocated,
            old.blocks or found.blocks,
        )
    return True


def _metaslabs(text: str, name: str, files: PoolFiles) -> bool:
    files.metaslabs = metaslabs.read_metaslabs(text, name)
    return True


def _history(text: str, name: str, files: PoolFiles) -> bool:
    del name
    files.histories += pool_history.read_history(text)
    return True


def _events(text: str, name: str, files: PoolFiles) -> bool:
    del name
    files.events += pool_events.read_events(text)
    return True


def _pool_iostat(text: str, name: str, files: PoolFiles) -> bool:
    del name
    files.activity.append(pool_iostat.read_iostat(text))
    return True


def _host_iostat(text: str, name: str, files: PoolFiles) -> bool:
    del name
    files.activity.append(host_iostat.read_host_iostat(text))
    return True


def _benchmarks(text: str, name: str, files: PoolFiles) -> bool:
    del name
    found, notes = benchmarks.read_benchmarks(text)
    files.benchmarks += found
    files.notes += notes
    return True


def _properties(text: str, name: str, files: PoolFiles) -> bool:
    del name
    files.lists += properties.read_pools(text)
    files.settings += properties.read_settings(text)
    return True


_READERS: tuple[tuple[str, Callable[[str], bool], Callable[[str, str, PoolFiles], bool]], ...] = (
    ("zpool status", status.recognises, _status),
    ("zpool list", listing.recognises, _list),
    ("zdb -C", configuration.recognises, _config),
    ("zdb -b", blocks.recognises, _statistics),
    ("zdb -m", metaslabs.recognises, _metaslabs),
    ("zpool and zfs get", properties.recognises, _properties),
    ("zpool history -i", pool_history.recognises, _history),
    ("zpool events", pool_events.recognises, _events),
    ("zpool iostat", pool_iostat.recognises, _pool_iostat),
    ("iostat -x", host_iostat.recognises, _host_iostat),
    ("fio or dd", benchmarks.recognises, _benchmarks),
)


def read_pasted(content: bytes, name: str = "text") -> PoolFiles:
    """Read outputs from memory.

    Raises
    ------
    InputError
        When nothing in it is known.
    """
    files = PoolFiles()
    files.contents[name] = read_text(decoded(content), name, files)
    if not files.contents[name]:
        raise InputError(name, None, "the output of zpool or zdb is expected", REMEDY)
    return files
