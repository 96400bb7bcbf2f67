"""The flags that describe a scenario, shared by every command that takes one.

Each flag is a field of `zsim.scenario.model.Scenario` with hyphens for underscores; `scenario_options` adds
them to a command, `scenario_from` turns what was given into a `Scenario`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import click

from zsim.base.errors import InputError
from zsim.cli.begins import with_begin
from zsim.cli.common import exclusive, key_value, notice
from zsim.cli.completion import completer
from zsim.cli.defaults import defaults
from zsim.cli.given_files import fields_in, fields_in_words, fields_of
from zsim.scenario.descriptions import described_for_flags
from zsim.scenario.words import NO_REPAIR, OF_REPAIR

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool
    from zsim.scenario.model import Scenario

Command = TypeVar("Command", bound=Callable[..., object])
Given = Mapping[str, object]
"""What click collected for the flags of a command: text, or several of it where a flag may be repeated."""


class Flag(NamedTuple):
    """A flag that takes a value: field of the scenario, what the value looks like, help if it says more."""

    field: str
    metavar: str
    own: str = ""

    @property
    def option(self) -> str:
        """The flag as it is typed."""
        return f"--{self.field.replace('_', '-')}"

    @property
    def help(self) -> str:
        """What the field means."""
        again = " May be repeated." if self in REPEATED else ""
        return f"{self.own or described_for_flags(self.field)}{again}"


FLAGS = (
    Flag("layout", "LAYOUT"),
    Flag("vdev_fills", "SHARES"),
    Flag("vdev_frags", "SHARES"),
    Flag("special_small_blocks", "SIZE"),
    Flag("special_drive", "NAME"),
    Flag("special_drive_size", "SIZE"),
    Flag("special_added_at", "SHARE"),
    Flag("replace_in", "VDEV"),
    Flag("vdevs", "N"),
    Flag("fill", "SHARE"),
    Flag("alloc", "SIZE"),
    Flag("drive", "NAME"),
    Flag("drive_size", "SIZE"),
    Flag("new_drive", "NAME"),
    Flag("new_drive_size", "SIZE"),
    Flag("recordsize", "SIZE"),
    Flag("frag", "SHARE"),
    Flag("rewritten", "SHARE"),
    Flag("history", "NAME"),
    Flag("block_list", "FILE"),
    Flag("blocks", "FILE"),
    Flag("metaslabs", "FILE"),
    Flag("ashift", "N"),
    Flag("memory", "SIZE"),
    Flag("cpus", "N"),
    Flag("release", "NAME"),
    Flag(
        "product",
        "NAME",
        "Product that ships ZFS: truenas-25.10, debian-12, proxmox-9.0, freebsd-14.3; its tunables "
        "may have hours (see --begins).",
    ),
    Flag("hz", "N"),
    Flag("operation", "NAME", "What runs: resilver, scrub, rebuild, expand or remove."),
    Flag("order", "NAME"),
    Flag("replace", "K"),
    Flag("second_at", "SHARE"),
    Flag("old_drive", "STATE"),
    Flag("target", "NAME"),
    Flag("enclosure", "NAME"),
    Flag("erc", "TIME"),
    Flag("platform", "NAME"),
    Flag("begins", "MOMENT"),
    Flag("engine", "NAME"),
    Flag("precision", "SHARE"),
    Flag("seed", "N"),
)
REPEATED = (
    Flag("ports", "NAME:DRIVES"),
    Flag(
        "evidence",
        "KIND=VALUE",
        "An earlier scan or measurement of this pool: scrub=25h17m, resilver=11h,alloc=12.1T,date=2026-05-03,"
        " sequential-read=180MB/s.",
    ),
    Flag("exchanged", "DRIVE:MODEL"),
    Flag(
        "slow",
        "DRIVE:xFACTOR",
        "A drive slower than its model: 3:x2.5 (takes 2.5 times as long), 3:1%@200ms (1 % of its reads "
        "take 200 ms), 3:x5,on=2h,off=20h (slow for 2 h of every 22).",
    ),
    Flag("bad_sectors", "DRIVE:COUNT"),
    Flag("attached", "DRIVE:HOW"),
    Flag(
        "load",
        "LOAD",
        "Foreground load: random-read,rate=50,size=64K, 'backup 100MB/s 22:00-06:00', or a file: jobs of "
        "fio, output of zpool iostat; none: nothing else uses the pool.",
    ),
)
SWITCHES = (
    ("write_cache", "--write-cache/--no-write-cache"),
    ("autosit", "--autosit/--no-autosit"),
    ("exact", "--exact/--sampled"),
)
TUNABLE_HELP = (
    "A ZFS tunable that differs from the release's default, perhaps at some hours: "
    "zfs_vdev_scrub_max_active='8 22:00-06:00'. May be repeated."
)
SET_HELP = "Any field of the scenario, such as tunables.zfs_vdev_scrub_max_active=5. May be repeated."
FILE_HELP = (
    "Scenario file (TOML), or a file with the output of zpool status and similar commands; --set overrides "
    "it, and the other flags override both."
)


def scenario_options(command: Command) -> Command:
    """Add every flag that describes a scenario to a click command; its function gets them as ``**given``."""
    # click lists the option added last first.
    command = click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help=SET_HELP)(command)
    command = click.option("--scenario", "file", metavar="FILE", help=FILE_HELP)(command)
    command = click.option("--tunable", "tunable", metavar="NAME=VALUE", multiple=True, help=TUNABLE_HELP)(
        command
    )
    for name, option in reversed(SWITCHES):
        command = click.option(option, name, default=None, help=described_for_flags(name))(command)
    for flag in reversed(FLAGS + REPEATED):
        many = flag in REPEATED
        add = click.option(
            flag.option,
            flag.field,
            metavar=flag.metavar,
            multiple=many,
            help=flag.help,
            shell_complete=completer(flag.field),
        )
        command = add(command)
    return command


def scenario_from(given: Given) -> Scenario:
    """Return the scenario of a command line.

    Parameters
    ----------
    given : mapping
        What click collected for the options that `scenario_options` adds.

    Raises
    ------
    InputError
        Naming the field whose value cannot be used.
    """
    from zsim.scenario.layout import FORMS
    from zsim.scenario.model import Scenario

    data = stated_fields(given)
    if data.get("layout") is None:
        raise InputError("layout", None, FORMS, "write for instance --layout raidz2x6")
    return Scenario.from_dict(data)


VDEV = re.compile(r"(?:\d+\s*\*\s*)?(?:raid-?z|raid[1-6]|mirror|draid|stripe|disk)", re.ASCII | re.IGNORECASE)
"""How a layout begins."""


def take_files(names: tuple[str, ...], given: dict[str, object]) -> None:
    """Note what stands in the place of files as a layout, or as what `fields_in` reads.

    Raises
    ------
    InputError
        When there is --scenario too.
    """
    exclusive({"FILE": " ".join(names) or None, "--scenario": given["file"]})
    if len(names) == 1 and given["layout"] is None and is_layout(names[0]):
        given["layout"] = names[0]
    else:
        given["file"] = names or given["file"]


def in_words(names: Sequence[str], given: Given) -> dict[str, object]:
    """Return what to note of a layout or a sentence that stands in the place of files; nothing of files."""
    noted: dict[str, object] = {"layout": given["layout"], "file": given["file"]}
    one = names[0] if len(names) == 1 else ""
    if (one and is_layout(one)) or fields_in_words(names, _stated_by_hand(given), tell=False) is not None:
        take_files(tuple(names), noted)
        return noted
    return {}


def is_layout(text: str) -> bool:
    """Tell whether what stands in the place of a file is a layout: of several words, one that can be read."""
    from zsim.scenario.layout import Layout

    if VDEV.match(text) is None or Path(text).exists():
        return False
    if not text.split()[1:]:
        return True
    try:
        Layout.parse(text)
    except InputError:
        return False
    return True


def stated_fields(given: Given, *, begins_now: bool = True) -> dict[str, object]:
    """Return the fields that are stated: the user's defaults, then the file, then --set, then the flags.

    `begins_now`: where something goes by the hour and nothing says when it starts, it starts now.
    """
    from zsim.scenario import files

    named, data, by_hand = given_names(given.get("file")), defaults(), _stated_by_hand(given)
    if named:
        there = _fields_of_files(named, by_hand, given)
        data = files.put_aside(data, there) | there
        data = _of_layout(data, by_hand.get("layout"))
    tunables = [f"tunables.{'='.join(key_value(text, '--tunable'))}" for text in words(given, "tunable")]
    data = files.apply_overrides(data, [*words(given, "settings"), *tunables])
    stated, held = stated_by_flags(given), data.get("evidence")
    if held and "evidence" in stated:
        stated["evidence"] = [*(held if isinstance(held, list) else [held]), *words(given, "evidence")]
    data = files.put_aside(data, stated)
    _check_names(data)
    fields = data | stated
    if "operation" not in by_hand and fields.get("operation") in NO_REPAIR and by_hand.keys() & {*OF_REPAIR}:
        # Who names a replacement beside what tells of a scrub asks for the resilver.
        fields.pop("operation")
    if "operation" in by_hand and fields.get("operation") in NO_REPAIR:
        # What a file tells of a repair is none of what is asked.
        fields = {name: value for name, value in fields.items() if name not in OF_REPAIR or name in by_hand}
    return with_begin(fields) if begins_now else fields


def _fields_of_files(named: Sequence[str], by_hand: Mapping[str, object], given: Given) -> dict[str, object]:
    """Return what files tell; where they were imported already, from what was found then."""
    read = given.get("imported")
    if read is None:
        return fields_in(named, by_hand, word(given, "piped"))
    return fields_of(cast("ImportedPool", read))


def _of_layout(data: dict[str, object], layout: object) -> dict[str, object]:
    """Return fields without what a pool of another layout has shown, and say so."""
    from zsim.scenario import files

    kept = files.of_layout(data, layout)
    if len(kept) < len(data):
        notice(f"the evidence is of {data['layout']}, and does not count for {layout}.")
    return kept


def _stated_by_hand(given: Given) -> dict[str, object]:
    """Return the fields that flags and --set state; a file may tell of others."""
    from zsim.scenario import files

    settings = words(given, "settings")
    named = dict.fromkeys(files.names_set(settings))
    return {**named, **files.apply_overrides({}, settings), **stated_by_flags(given)}


def by_default(given: Given) -> frozenset[str]:
    """Return the fields that the user's defaults alone state: a pasted status says more than these."""
    return frozenset(defaults()) - _stated_by_hand(given).keys()


def fields_of_pool(given: Given, allowed: str, instead: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that are stated, without those of a repair, where a plan tells what happens.

    Parameters
    ----------
    given : mapping
    allowed : str
        Why such a field means nothing here.
    instead : mapping of str to str
        Such fields, and what is to be done instead of stating them.

    Raises
    ------
    InputError
        When one is stated by hand; what a file tells of a repair is left out, and that is said.
    """
    stated, by_hand = stated_fields(given), _stated_by_hand(given)
    of_repair = [name for name in instead if stated.get(name) is not None]
    for name in of_repair:
        if name in by_hand:
            raise InputError(name, stated[name], allowed, instead[name])
    if of_repair:
        begins = "without the missing drives" if _shows_gone(stated) else "with a whole pool"
        notice(f"the timeline begins {begins}: the repair shown in the file is not part of it.")
    return {name: value for name, value in stated.items() if name not in of_repair}


def _shows_gone(stated: Mapping[str, object]) -> bool:
    """Tell whether the evidence shows drives that are gone and that nothing replaces."""
    held = stated.get("evidence")
    listed = held if isinstance(held, list) else []
    return any(isinstance(each, Mapping) and each.get("missing") for each in listed)


def given_names(given: object) -> tuple[str, ...]:
    """Return the files given: none, one, or several of one pool."""
    return (given,) if isinstance(given, str) else given if isinstance(given, tuple) else ()


TUNABLES = ("zfs_", "vfs", "metaslab_", "spa_", "zio_", "zil_", "l2arc_", "dmu_")
"""How names of tunables begin, and no field of a scenario."""


def _check_names(data: Mapping[str, object]) -> None:
    """Refuse what is no field of a scenario: functions have further arguments, which a file must not set."""
    from zsim.base.model_data import suggest
    from zsim.scenario.model import Scenario

    known = Scenario.field_infos()
    for name, value in data.items():
        if name not in known and name not in Scenario.model_fields:
            is_tunable = name.startswith(TUNABLES)
            remedy = "state a tunable with --tunable NAME=VALUE" if is_tunable else suggest(name, known)
            raise InputError(name, value, "there is no such field", remedy)


def word(given: Given, name: str) -> str | None:
    """Return the text given to a flag; None where it was not given."""
    found = given.get(name)
    return None if found is None else str(found)


def words(given: Given, name: str) -> tuple[str, ...]:
    """Return what was given to a flag that may be repeated."""
    found = given[name]
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def stated_by_flags(given: Given) -> dict[str, object]:
    """Return the fields of the scenario that flags state."""
    single = [flag.field for flag in FLAGS] + [name for name, _ in SWITCHES]
    stated = {name: given[name] for name in single if given[name] is not None}
    return stated | {flag.field: list(words(given, flag.field)) for flag in REPEATED if given[flag.field]}
