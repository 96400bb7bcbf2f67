"""Commands beside a status, and a history of commands alone."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.pastes import status
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.commands import (
    BuiltPool,
    PoolCommand,
    last_of,
    read,
    read_commands,
    recognises,
    short,
)
from zsim.observe.zpool.properties import KnownProperty
from zsim.planning.eta.reading import read_paste

SHARE = """\
History for 'share':
2011-11-03.22:41:47 zpool create -f -o ashift=12 share raidz1 ata-A1 ata-A2 ata-A3
2011-11-03.22:41:50 zpool add -f share raidz1 ata-B1 ata-B2 ata-B3 [user 0 (root) on nas:linux]
2011-11-03.22:41:52 zpool add share log mirror ssd1 ssd2 cache ssd3
2011-11-03.22:42:10 zfs set recordsize=1M share
2013-04-20.14:08:08 zpool replace -f share ata-A2 ata-C2
2013-04-23.09:40:23 zpool offline share ata-B3
"""


def test_a_history_alone_shows_the_pool_that_its_commands_made() -> None:
    found = import_pasted(SHARE)
    assert found.pool == "share"
    assert str(found.scenario.layout) == "2*raidz1x3"
    assert (found.scenario.ashift, found.scenario.recordsize) == (12, 1 << 20)
    assert found.scenario.old_drive == "missing"
    assert found.vdev_names == ("raidz1-1", "raidz1-0")
    assert found.places["ata-C2"] == (1, 1)
    assert any("log, cache" in note for note in found.notes)


@pytest.mark.parametrize(
    ("commands", "layout"),
    [
        ("zpool create tank sda\n$ zpool attach tank sda sdb\n$ zpool attach tank sdb sdc", "mirror3"),
        ("zpool create tank mirror sda sdb\n# zpool add tank mirror sdc sdd\n# zpool detach tank sdd",
         "mirror2+disk"),
        ("zpool create tank mirror sda sdb mirror sdc sdd\n# zpool remove tank mirror-1", "mirror2"),
        ("zpool create tank raidz2 /dev/disk/by-id/a \\\n    /dev/disk/by-id/b \\\n    /dev/disk/by-id/c"
         " /dev/disk/by-id/d", "raidz2x4"),
        ("zpool create tank raidz1 sda sdb sdc sdd\n# zpool replace tank sdb e\n# zpool replace tank e f",
         "raidz1x4"),
        ("zpool create tank mirror sda sdb sdc\n# zpool detach tank sda", "mirror2"),
        ("zpool create tank raidz2 /dev/sda\n/dev/sdb /dev/sdc\n/dev/sdd spare /dev/sde", "raidz2x4"),
        ("zpool create -O compression=lz4 -m /mnt/t tank draid2:4d:11c:1s a b c d e f g h i j k",
         "draid2:4d:11c:1s"),
    ],
)  # fmt: skip
def test_layouts_follow_the_commands(commands: str, layout: str) -> None:
    assert str(import_pasted(f"# {commands}\n").scenario.layout) == layout


def test_a_default_is_known_of_a_history_that_begins_with_its_pool() -> None:
    lines = "2021-02-25.13:16:26 zpool create tank mirror sda sdb\n"
    assert import_pasted(lines).scenario.recordsize == 128 << 10
    received = lines + "2021-02-26.13:16:26 zfs receive -F tank/data\n"
    assert import_pasted(received).scenario.recordsize is None
    assert import_pasted("# zpool create tank mirror sda sdb\n").scenario.recordsize is None


def test_record_sizes_of_datasets_alone_say_nothing_of_their_pool() -> None:
    found = read("2021-02-25.13:16:26 zfs create -o recordsize=16K tank/db\n", "text")
    assert [each for each in found if not isinstance(each, PoolCommand)] == []


def sizes_in(text: str) -> dict[str, int]:
    """Return the record sizes that a text shows, by pool or dataset."""
    found = (each for each in read(text, "text") if isinstance(each, KnownProperty))
    return {each.of: each.value for each in found if each.name == "recordsize"}


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("zfs set recordsize=1M tank", {"tank": 1 << 20}),
        ("zfs set atime=off recordsize=1M compression=zstd tank", {"tank": 1 << 20}),
        ("zfs set recordsize=1M atime=off tank # for media/films", {"tank": 1 << 20}),
        ("zfs set recordsize=64K tank tank/db", {"tank": 64 << 10}),
        ("zfs set recordsize=1M", {}),
    ],
)
def test_several_settings_of_one_command_are_read(line: str, sizes: dict[str, int]) -> None:
    assert sizes_in(f"# {line}\n") == sizes


@pytest.mark.parametrize("setting", ["quota=10G", "recordsize=large", "ashift=none"])
def test_settings_that_are_no_sizes_of_blocks_are_none(setting: str) -> None:
    found = read(f"# zfs set {setting} tank\n", "text")
    assert [each for each in found if isinstance(each, KnownProperty)] == []


def test_sizes_of_datasets_count_beside_a_pool_whose_own_is_known() -> None:
    text = (
        "2024-01-02.10:00:00 zpool create tank mirror sda sdb\n"
        "2024-01-02.10:05:00 zfs set recordsize=1M atime=off tank/media tank/films\n"
    )
    assert sizes_in(text) == {"tank": 128 << 10, "tank/media": 1 << 20, "tank/films": 1 << 20}


def test_another_pool_is_not_built_from_these_commands() -> None:
    text = SHARE + "\n" + status("none requested", "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd\n")
    found = import_pasted(text)
    assert str(found.scenario.layout) == "raidz2x4"
    assert found.scenario.ashift is None


@pytest.mark.parametrize(
    "line",
    [
        "# zpool replace tank sdc sdx",
        "root@nas:~# sudo zpool replace -f tank /dev/sdc /dev/disk/by-id/sdx",
        "[nico@server ~]$ sudo zpool replace -o ashift=12 tank sdc sdx",
        "I launched `zpool replace tank sdc sdx` and waited",
        "2024-12-28.11:59:58 zpool replace tank sdc sdx",
        "    zpool replace tank sdc sdx",
    ],
)
def test_a_command_is_read_wherever_people_write_it(line: str) -> None:
    (command,) = read_commands(line)
    assert (command.verb, command.pool, tuple(map(short, command.drives))) == ("replace", "tank", ("sdx",))


@pytest.mark.parametrize(
    "line", ["action: Wait, or use 'zpool clear'.", "then I tried zpool replace tank a b"]
)
def test_prose_is_no_command(line: str) -> None:
    assert not recognises(line)


ALONE = """
raidz2-0
  sda
  sdb
  sdx {mark}
  sdd
  sde
  sdf
"""
EARLY = """resilver in progress since Sat Dec 28 12:00:00 2024
\t330G / 33.0T scanned at 4.58G/s, 16.0G / 33.0T issued at 220M/s
\t310M resilvered, 0.05% done, 41:00:00 to go"""


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("", "heal"),
        ("# zpool replace tank sdc sdx\n", "resilver"),
        ("2024-12-28.12:00:02 zpool replace tank sdc /dev/sdx\n", "resilver"),
        ("2024-12-28.18:00:02 zpool replace tank sdc /dev/sdx\n", "heal"),
        ("# zpool replace other sdc sdx\n", "heal"),
        ("# zpool replace tank sdc sdx\n# zpool online tank sdx\n", "heal"),
    ],
)
def test_a_command_tells_whether_a_drive_that_stands_alone_is_new(before: str, kind: str) -> None:
    paste = read_paste(before + status(EARLY, ALONE.format(mark="(resilvering)")))
    assert paste.scans[-1].kind == kind


@pytest.mark.parametrize(
    ("command", "kind"),
    [("attach tank sda sdb", "resilver"), ("online tank sdb", "heal"), ("clear tank", "heal")],
)
def test_a_command_tells_whether_a_drive_of_a_mirror_was_away(command: str, kind: str) -> None:
    text = f"$ sudo zpool {command}\n" + status(EARLY, "mirror-0\n  sda\n  sdb (resilvering)")
    assert read_paste(text).scans[-1].kind == kind


def test_of_several_commands_the_last_before_the_scan_counts() -> None:
    early, late = datetime(2024, 1, 1), datetime(2024, 2, 1)
    commands = (
        PoolCommand("zpool", "replace", "tank", ("a", "/dev/b-part1"), at=early),
        PoolCommand("zpool", "online", "tank", ("b",), at=late),
    )
    assert last_of(commands, "b") == "online"
    assert last_of(commands, "b", early) == "replace"
    assert last_of(commands, "a") == ""


def test_a_scrub_of_some_dates_is_not_a_whole_one() -> None:
    scan = (
        "scrub in progress since Sat Dec 28 12:00:00 2024\n\t3.30T / 33.0T scanned at 1.58G/s, 1.40T / 33.0T"
    )
    text = status(
        f"{scan} issued at 680M/s\n\t0B repaired, 4.15% done, 13:09:00 to go", ALONE.format(mark="")
    )
    told = import_pasted("# zpool scrub -S 2024-11-01 -E 2024-12-01 tank\n" + text).notes
    assert any("NOT A WHOLE SCRUB: with -S and -E" in note for note in told)
    assert not any("NOT A WHOLE" in note for note in import_pasted("# zpool scrub tank\n" + text).notes)


def test_a_built_pool_has_the_drives_that_it_has_now() -> None:
    (built,) = (each for each in read(SHARE, "text") if isinstance(each, BuiltPool))
    assert [leaf.name for vdev in built.vdevs for leaf in vdev.leaves()] == [
        "ata-A1", "ata-C2", "ata-A3", "ata-B1", "ata-B2", "ata-B3",
    ]  # fmt: skip


def test_commands_that_were_refused_or_are_patterns_made_nothing() -> None:
    """As in a terminal where the first try lacked ``-f``, and in a list of commands to learn."""
    text = (
        "root@pve2:~# zpool add tank mirror sdc sdd\ninvalid vdev specification\nuse '-f' to override\n"
        "root@pve2:~# zpool add -f tank mirror sdc sdd\n# zpool add tank <type> c0t2d0 c0t3d0\n"
    )
    assert [command.options for command in read_commands(text)] == [(("-f", ""),)]


DF = """\
Filesystem      {head}  Used Avail Use% Mounted on
udev            {udev}     0  7.8G   0% /dev
/dev/sda2        98G   12G   82G  13% /
tank            {root}
tank/films      {films}
"""
NONE = "none requested", "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd\n"


def test_df_tells_how_full_a_pool_is_where_nothing_else_does() -> None:
    """Of 29T that are used or free, 21.5T are used."""
    human = DF.format(
        head="Size", udev="7.8G", root="8.0T  500G  7.5T   7% /tank", films="29T  21T  7.5T  74% /f"
    )
    blocks = DF.format(
        head="1K-blocks", udev="8178892", root="8589934592 524288000 8053063680 7% /tank",
        films="30601641984 22548578304 8053063680 74% /f",
    )  # fmt: skip
    for text in (human, blocks):
        found = import_pasted(status(*NONE) + text)
        assert found.scenario.fill == pytest.approx(0.741, abs=2e-3)
        assert any("taken from df" in note for note in found.notes)
    assert import_pasted(status(*NONE) + human.replace("tank", "rpool")).scenario.fill is None
