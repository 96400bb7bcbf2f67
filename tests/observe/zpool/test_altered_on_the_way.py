"""Statuses that a chat, an editor, a program or text recognition has altered are read as printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.pastes import RAIDZ2, status
from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.eta.reading import read_paste

SCAN = """resilver in progress since Sat Dec 28 12:00:00 2024
\t3.30T / 33.0T scanned at 4.58G/s, 400G / 33.0T issued at 1.11G/s
\t65.1G resilvered, 1.21% done, 08:00:00 to go"""
PRINTED = status(SCAN, RAIDZ2.format(mark="(resilvering)"))


def _misread(text: str) -> str:
    text = text.replace("ONLINE", "0NLINE").replace("     0     0     0", "     O     O     O")
    return text.replace("raidz2-0", "raidz2-O").replace("1.21%", "l.21%").replace("1.11G/s", "1.1lG/s")


ALTERED: dict[str, Callable[[str], str]] = {
    "entities": lambda text: text.replace(" ", "&nbsp;").replace("\t", "&#9;"),
    "hyphens": lambda text: text.replace("-", "\u2011"),
    "dashes": lambda text: text.replace("-", "\u2013"),
    "no width": lambda text: text.replace("raidz2", "raidz\u200b2").replace("scan:", "sc\u200dan:"),
    "bold": lambda text: re.sub(r"(pool|state|scan|config|errors):", r"**\1:**", text),
    "bold without colon": lambda text: re.sub(r"(pool|state|scan|config|errors):", r"**\1**:", text),
    "blank": lambda text: re.sub(r"(pool|state|scan|config|errors):", r"\1 :", text),
    "wide colon": lambda text: text.replace(":", "\uff1a"),
    "escaped": lambda text: f"'{text}'".replace("\n", "\\n").replace("\t", "\\t"),
    "json": lambda text: json.dumps({"rc": 0, "stdout": text, "stderr": ""}),
    "listed": lambda text: json.dumps({"stdout_lines": text.split("\n")}, indent=4),
    "difference": lambda text: "\n".join(f"+ {line}" for line in text.split("\n")),
    "numbered": lambda text: "\n".join(f"{at:3d}  {line}" for at, line in enumerate(text.split("\n"), 1)),
    "numbered with colons": lambda text: "\n".join(
        f"{at}: {line}" for at, line in enumerate(text.split("\n"))
    ),
    "misread": _misread,
}


@pytest.mark.parametrize("way", ALTERED)
def test_a_status_that_was_altered_is_read_as_printed(way: str) -> None:
    printed, found = import_pasted(PRINTED), import_pasted(ALTERED[way](PRINTED))
    assert found.scenario == printed.scenario
    assert found.notes == printed.notes


def test_what_only_looks_like_a_digit_stays_as_it_is() -> None:
    tree = "mirror-0\n  lO1\n  O-1.l"
    places = import_pasted(status("none requested", tree)).places
    assert set(places) == {"lO1", "O-1.l"}


@pytest.mark.parametrize("dots", ["...", "\u2026", "[...]", "<snip>", "(snip)", "etc."])
def test_rows_that_are_left_out_are_not_taken_for_none(dots: str) -> None:
    text = PRINTED.replace("    sde ", f"    {dots}\n\t    sdz ").replace("sdc", "...")
    assert "sdc" not in text
    found = import_pasted(re.sub(r"\n[^\n]*sd[ab] [^\n]*", "", text))
    assert any(note.startswith("NOT KNOWN: how many drives raidz2-0 has") for note in found.notes)
    assert str(found.scenario.layout) == "raidz2x6"


def test_rows_that_are_left_out_are_as_many_as_those_of_a_vdev_beside_it() -> None:
    first = "".join(f"  sd{name}\n" for name in "abcdefgh")
    tree = f"raidz2-0\n{first}raidz2-1\n  sdk\n  sdl\n"
    text = status("none requested", tree).replace("    sdl ", "    ...\n\t    sdl ")
    assert str(import_pasted(text).scenario.layout) == "2*raidz2x8"


LATE = """resilver in progress since Tue Aug 19 12:29:32 2025
\t20.8T scanned at 84.9M/s, 20.7T issued at 67.1M/s, 53.2T total
\t337G resilvered, 38.82% done, 5 days 21:14:03 to go"""


def test_a_new_drive_that_was_attached_while_a_pass_ran_is_filled_and_lacks_the_rest() -> None:
    """Of 8.9T on a drive it has got 337G, when 39 % are read: at 67M/s nothing is passed over."""
    paste = read_paste(status(LATE, RAIDZ2.format(mark="(resilvering)")))
    assert (paste.scans[-1].kind, paste.scans[-1].processed) == ("resilver", None)
    assert not any("NOT A WHOLE DRIVE" in note for note in paste.notes)
    assert any("a further pass begins" in note for note in paste.notes)


def test_what_is_passed_over_is_not_filled() -> None:
    """So much faster than six drives are read only what needs no repair is counted."""
    paste = read_paste(status(LATE.replace("67.1M/s", "9.10G/s"), RAIDZ2.format(mark="(resilvering)")))
    assert paste.scans[-1].kind == "heal"
    assert not any("a further pass begins" in note for note in paste.notes)


def _of_proxmox(name: str, state: str, *children: dict[str, object], msg: str = "") -> dict[str, object]:
    counts = {"read": 0, "write": 0, "cksum": 0}
    found: dict[str, object] = {"name": name, "state": state, "msg": msg, "leaf": int(not children), **counts}
    return found | ({"children": list(children)} if children else {})


def test_a_pool_of_proxmox_is_read_as_its_status() -> None:
    drives = [_of_proxmox(f"sd{each}", "ONLINE") for each in "abcef"]
    pair = _of_proxmox(
        "replacing-3", "DEGRADED", _of_proxmox("sdd", "REMOVED"),
        _of_proxmox("sdx", "ONLINE", msg="(resilvering)"),
    )  # fmt: skip
    vdev = _of_proxmox("raidz2-0", "DEGRADED", *drives[:3], pair, *drives[3:])
    logs = {"name": "logs", "children": [_of_proxmox("nvme0n1", "ONLINE")]}
    pool = {"name": "tank", "state": "DEGRADED", "scan": SCAN, "errors": "No known data errors", "leaf": 0}
    text = json.dumps(pool | {"children": [vdev, logs]}, indent=2)
    printed, found = import_pasted(PRINTED), import_pasted(f"# pvesh get /nodes/a/disks/zfs/tank\n{text}\n")
    assert str(found.scenario.layout) == "raidz2x6+log:disk"
    assert found.scenario.evidence == printed.scenario.evidence
    assert (found.scenario.alloc, found.pool) == (printed.scenario.alloc, "tank")
    assert import_pasted(PRINTED + '{"leaf": 0, "children": 1, "cksum": 2}').scenario == printed.scenario


LABEL = """\
    name: 'tank'
    vdev_children: {tops}
    vdev_tree:
        type: 'mirror'
        id: 0
        ashift: 12
        asize: 3000588042240
        children[0]:
            type: 'disk'
            id: 0
        children[1]:
            type: 'disk'
            id: 1
"""


def test_the_label_of_a_drive_shows_the_one_vdev_of_its_pool() -> None:
    found = import_pasted(LABEL.format(tops=1))
    assert (str(found.scenario.layout), found.scenario.ashift) == ("mirror2", 12)
    with pytest.raises(InputError, match="fewer top-level vdevs"):
        import_pasted(LABEL.format(tops=3))


TWO = """
raidz2-0 DEGRADED
  replacing-0 DEGRADED
    sda OFFLINE
    sdx (resilvering)
  sdb
  sdc
  sdd
raidz2-1 DEGRADED
  replacing-0 DEGRADED
    sde OFFLINE
    sdy {mark}
  sdf
  sdg
  sdh
"""


def test_a_drive_of_another_vdev_that_awaits_a_resilver_is_counted() -> None:
    assert read_paste(status(SCAN, TWO.format(mark="(awaiting resilver)"))).waiting == 1
    assert read_paste(status(SCAN, TWO.format(mark="(resilvering)"))).waiting == 0
    wider = TWO.format(mark="(awaiting resilver)") + "  sdi\n"
    assert read_paste(status(SCAN, wider)).waiting == 0


def test_what_several_vdevs_take_is_said() -> None:
    at_once = import_pasted(status(SCAN, TWO.format(mark="(resilvering)"))).notes
    assert any("2 vdevs are resilvered at once" in note for note in at_once)
    gone = "raidz2-0\n  sda UNAVAIL\n  sdb\n  sdc\n  sdd\n"
    both = import_pasted(status("none requested", gone + gone.replace("sd", "da").replace("-0", "-1"))).notes
    assert any("drives of 2 vdevs are to be replaced" in note for note in both)
    assert not any(
        "vdevs are to be replaced" in note for note in import_pasted(status("none requested", gone)).notes
    )
