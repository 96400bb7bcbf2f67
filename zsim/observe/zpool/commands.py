"""Commands of ``zpool`` and ``zfs`` in a history or a terminal, and the pool that they made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from zsim.observe.texts import nice_bytes, whole
from zsim.observe.zpool.properties import KnownProperty
from zsim.observe.zpool.vdev_tree import GROUPS, SECTIONS, USUAL_FEW, Vdev, named_vdev

MOST_COMMANDS, MOST_CHANGES = 100_000, 5_000
DEFAULT_RECORD = 128 << 10
"""recordsize where nobody sets it (zfsprops(7)) [bytes]."""
FILLS, RETURNS = frozenset(("replace", "attach")), frozenset(("online", "clear"))
"""Commands after which a drive is written from the first block on, and those after which it misses a part."""
_CHANGES = frozenset(("create", "add", "attach", "detach", "replace", "remove", "offline", "online"))
_VERBS = "create|add|attach|detach|replace|remove|offline|online|clear|scrub|set|receive|recv"
_WITH_VALUE = {
    "create": "-m -o -O -R -t", "add": "-o", "attach": "-o", "replace": "-o", "set": "", "scrub": "-S -E -t",
    "online": "", "offline": "", "clear": "", "detach": "", "remove": "", "receive": "-o -x", "recv": "-o -x",
}  # fmt: skip
"""Options that a value follows (zpool-create(8), zpool-scrub(8), zfs-create(8))."""
_COMMAND = re.compile(
    r"^(?:(?P<day>\d{4}-\d\d-\d\d)\.(?P<clock>\d\d:\d\d:\d\d) "
    r"|[^\n]{0,80}?[#$%>\u2192`] {0,2}|[ \t]{0,12})(?:(?:sudo|doas|pfexec) )?"
    rf"(?P<tool>zpool|zfs) (?P<verb>{_VERBS}) (?P<words>[^\n`]{{1,8000}})",
    re.MULTILINE,
)
_CONTINUED = re.compile(r"[ \t]{0,8}\\\n[ \t]{0,80}|\n[ \t]{0,8}(?=/dev/\S)")
"""Long commands in several lines, by a backslash or before the path of a drive."""
_REFUSED = re.compile(
    r"[ \t]*\n[ \t]*(?:invalid |cannot |use '-f'|the following errors|missing |usage:|must be )",
    re.IGNORECASE,
)
"""What follows a command in a terminal that was not run."""
_PLACEHOLDER = re.compile(r"<\w|\$\{?\w|(?:^| )\[|\.\.\.")
_BY_WHOM = re.compile(r" \[(?:user \d|on )[^\]\n]{0,200}\].*\Z")
"""What ``zpool history -l`` adds."""
_NAME = re.compile(r"[A-Za-z][\w.:/ -]{0,254}", re.ASCII)
_Change = Callable[[Vdev], tuple[Vdev, ...]]
_PARTITION = re.compile(r"(?:-part|p|s)\d{1,2}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class PoolCommand:
    """A command that names a pool.

    Attributes
    ----------
    tool, verb : str
        zpool or zfs, and what it was to do.
    pool : str
        Its name, or that of a dataset.
    words : tuple of str
        What follows the name of the pool.
    options : tuple of tuple of str
        Each with its value, which is empty where it has none.
    at : datetime or None
        When it was run, where a history says so.
    """

    tool: str
    verb: str
    pool: str
    words: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    at: datetime | None = None

    @property
    def makes_pool(self) -> bool:
        """Whether it makes a pool, not a dataset."""
        return (self.tool, self.verb) == ("zpool", "create")

    @property
    def drives(self) -> tuple[str, ...]:
        """The drives that it is about afterwards: of a replacement the new one, or the one in its place."""
        if self.verb in FILLS:
            return self.words[1:2] or self.words[:1]
        return self.words


@dataclass(frozen=True, slots=True)
class BuiltPool:
    """What the commands of a pool have made of it.

    Attributes
    ----------
    name : str
    vdevs : tuple of Vdev
        Top-level vdevs for data.
    others : tuple of str
        Sections of vdevs that are not for data.
    """

    name: str
    vdevs: tuple[Vdev, ...]
    others: tuple[str, ...] = ()


def recognises(text: str) -> bool:
    """Tell whether a text holds commands that name a pool."""
    return next(_commands(text), None) is not None


def read(text: str, name: str) -> tuple[PoolCommand | KnownProperty | BuiltPool, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    found = read_commands(text)
    return (*found, *_settings(found), *_built(found))


def read_commands(text: str) -> tuple[PoolCommand, ...]:
    """Return the commands of a text, in its order."""
    return tuple(command for command, _ in zip(_commands(text), range(MOST_COMMANDS), strict=False))


def last_of(commands: Sequence[PoolCommand], drive: str, before: datetime | None = None) -> str:
    """Return the verb of the last command about a drive; empty where none is.

    Parameters
    ----------
    commands : sequence of PoolCommand
    drive : str
    before : datetime, optional
        Those that a history dates later are passed over.
    """
    name, found = short(drive), ""
    for command in commands:
        late = before is not None and command.at is not None and command.at > before
        # zpool clear without a drive is about all of them.
        named = name in map(short, command.drives) or (command.verb == "clear" and not command.words)
        found = command.verb if named and not late else found
    return found


def short(name: str) -> str:
    """Return the name of a drive without its directory and its partition."""
    last = name.rpartition("/")[2]
    return _PARTITION.sub("", last) if "-part" in last or last.startswith("nvme") else last


def _commands(text: str) -> Iterator[PoolCommand]:
    if "zpool" not in text and "zfs" not in text:
        return
    text = _CONTINUED.sub(" ", text)
    for match in _COMMAND.finditer(text):
        told = _BY_WHOM.sub("", match["words"])
        if _REFUSED.match(text, match.end()) or _PLACEHOLDER.search(told):
            continue
        words = told.split()
        options, rest = _parted(words, _WITH_VALUE[match["verb"]].split())
        names, more = _set(rest) if match["verb"] == "set" else (rest[:1], rest[1:])
        for name in filter(_NAME.fullmatch, names):
            yield PoolCommand(
                match["tool"], match["verb"], name, tuple(more), options, _at(match["day"], match["clock"])
            )


def _set(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what ``set`` is about, a pool or some datasets, and the settings that stand before."""
    settings = [word for word in words if "=" in word]
    names = [word for word in words if "=" not in word]
    return [*names[:1], *(name for name in names[1:] if "/" in name)], settings


def _at(day: str | None, clock: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day} {clock}") if day else None
    except ValueError:
        return None


def _parted(words: Sequence[str], valued: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return the options of a command, each with its value, and what is none of them."""
    options, rest, waits = [], list[str](), ""
    for word in words:
        if waits:
            options.append((waits, word))
            waits = ""
        elif word in ("|", "&&", ";", "||", ">", "2>&1", "#"):
            break
        elif word in valued:
            waits = word
        elif word[:2] in valued and len(word) > len("-o"):
            options.append((word[:2], word[2:]))
        elif word.startswith("-") and len(word) > 1:
            options.append((word, ""))
        else:
            rest.append(word.strip("\"'"))
    return tuple(options), rest


def _settings(commands: Sequence[PoolCommand]) -> Iterator[KnownProperty]:
    """Yield sector and record sizes; of several settings the last one counts.

    A history that begins with its pool and receives nothing shows every change of a default.
    """
    found: dict[tuple[str, str], int] = {}
    whole_of = {each.pool for each in commands if each.makes_pool and each.at is not None}
    whole_of -= {each.pool.partition("/")[0] for each in commands if each.verb in ("receive", "recv")}
    for command in commands:
        if command.makes_pool and command.pool in whole_of:
            found[command.pool, "recordsize"] = DEFAULT_RECORD
        words = [value for name, value in command.options if name in ("-o", "-O")]
        for word in (*words, *(command.words if command.verb == "set" else ())):
            name, _, value = word.partition("=")
            size = whole(value) if name == "ashift" else nice_bytes(value)
            if size and name in ("ashift", "recordsize"):
                found[command.pool, name] = size
    for (of, name), size in found.items():
        # Of datasets below a pool whose own size is not known nothing follows for the pool.
        if "/" not in of or of.partition("/")[0] in whole_of:
            yield KnownProperty(of, name, size, "zpool history")


def _built(commands: Sequence[PoolCommand]) -> Iterator[BuiltPool]:
    """Yield the pools of which the commands show how they were made."""
    pools: dict[str, _Building] = {}
    changes = [command for command in commands if command.tool == "zpool" and command.verb in _CHANGES]
    for command in changes[:MOST_CHANGES]:
        if command.makes_pool:
            pools[command.pool] = _Building()
        if command.pool in pools:
            pools[command.pool].run(command)
    for name, pool in pools.items():
        vdevs = tuple(pool.vdevs)
        if vdevs:
            yield BuiltPool(name, vdevs, tuple(pool.others))


def _drive(word: str) -> Vdev:
    """Return a drive as zpool prints it, without its directory."""
    return Vdev(word.rpartition("/")[2], "disk", "ONLINE")


class _Building:
    """A pool while its commands are followed."""

    def __init__(self) -> None:
        self.vdevs: list[Vdev] = []
        self.others: dict[str, None] = {}
        self.made = 0

    def run(self, command: PoolCommand) -> None:
        """Do what a command did."""
        if command.verb in ("create", "add"):
            self._add(command.words)
        elif command.verb == "replace" and len(command.words) > 1:
            self._change(command.words[0], lambda _: (_drive(command.words[1]),))
        elif command.verb == "attach" and len(command.words) > 1:
            self._attach(*command.words[:2])
        elif command.verb in ("offline", "online"):
            state = "OFFLINE" if command.verb == "offline" else "ONLINE"
            for name in command.words:
                self._change(name, lambda drive: (replace(drive, state=state),))
        elif command.verb == "detach":
            self._change(command.words[0] if command.words else "", lambda _: ())
        elif command.verb == "remove":
            gone = set(map(short, command.words))
            self.vdevs = [each for each in self.vdevs if short(each.name) not in gone]

    def _add(self, words: Iterable[str]) -> None:
        section, group = "", False
        for word in words:
            drive = _drive(word)
            kind = named_vdev(word)
            if word in SECTIONS:
                section, group = word, False
                self.others[word] = None
            elif kind.kind in GROUPS and short(word) == word:
                # It is of the section that was begun, as in "log mirror a b".
                group = True
                if not section:
                    self.vdevs.append(replace(kind, name=f"{word}-{self.made}", state="ONLINE"))
                self.made += 1
            elif section:
                continue
            elif group:
                last = self.vdevs[-1]
                self.vdevs[-1] = replace(last, children=(*last.children, drive))
            else:
                self.vdevs.append(drive)
                self.made += 1

    def _change(self, name: str, change: _Change) -> None:
        """Put what a change makes of a drive in its place; a mirror of one is that one."""
        found = []
        for vdev in self.vdevs:
            names = [short(each.name) for each in vdev.children]
            if short(name) in names:
                place = names.index(short(name))
                drive = vdev.children[place]
                changed = (*vdev.children[:place], *change(drive), *vdev.children[place + 1 :])
                found.append(changed[0] if len(changed) == 1 else replace(vdev, children=changed))
            elif not vdev.children and short(vdev.name) == short(name):
                found += change(vdev)
            else:
                found.append(vdev)
        self.vdevs = found

    def _attach(self, name: str, new: str) -> None:
        """Put a drive beside another, which makes a mirror of a single one, or into a RAID-Z, which grows."""
        added = _drive(new)
        for place, vdev in enumerate(self.vdevs):
            names = [short(vdev.name), *(short(each.name) for each in vdev.children)]
            if short(name) in names:
                pair = vdev if vdev.children else replace(named_vdev(USUAL_FEW, "ONLINE"), children=(vdev,))
                self.vdevs[place] = replace(pair, children=(*pair.children, added))
