"""A scan of a pool whose vdevs are not shown, or not all of their drives: the same is taken everywhere."""

import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.given.assumed import as_status, width_of
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import read_status
from zsim.planning.eta.reading import read_paste

SCAN = """\
  scan: resilver in progress since Sun Oct  6 11:02:18 2024
\t23.1T / 23.1T scanned, 4.41T / 23.1T issued at 513M/s
\t{wrote} resilvered, 19.09% done, 10:36:02 to go
"""
HEAD = "  pool: tank\n state: DEGRADED\n"
CONFIG = """\
config:

\tNAME                        STATE     READ WRITE CKSUM
\ttank                        DEGRADED     0     0     0
{rows}
errors: No known data errors
"""
UNHEALTHY = """\
\t  raidz2-0                  DEGRADED     0     0     0
\t    replacing-3             DEGRADED     0     0     0
\t      sdd                   UNAVAIL      0     0     0
\t      sdk                   ONLINE       0     0     0  (resilvering)
"""
NUMBERS = """\
\t  11937289304462842381      DEGRADED     0     0     0
\t    2291810922384012338     ONLINE       0     0     0
\t    9912938475610293847     ONLINE       0     0     0
\t    17263549182736455463    ONLINE       0     0     0
\t    6372819283746502938     DEGRADED     0     0     0
\t      5172839405968574635   UNAVAIL      0     0     0  was /dev/disk/by-id/ata-ST8000VN0022-2EL112_Z1
\t      14736452839405968574  ONLINE       0     0     0  (resilvering)
\t    3847562910293847561     ONLINE       0     0     0
\t    8374652910293847561     ONLINE       0     0     0
"""


def status(rows: str, wrote: str = "743G") -> str:
    return HEAD + SCAN.format(wrote=wrote) + CONFIG.format(rows=rows)


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        (SCAN.format(wrote="743G"), "raidz2x6", "NOT KNOWN: the layout"),
        (SCAN.format(wrote="4.39T"), "2*mirror2", "NOT KNOWN: the layout"),
        (SCAN.format(wrote="1.47T"), "raidz1x3", "NOT KNOWN: the layout"),
        (status(UNHEALTHY, "411G"), "raidz2x11", "NOT KNOWN: how many drives raidz2-0 has"),
        (status(NUMBERS), "raidz2x6", "NOT KNOWN: the kind of the vdevs"),
        (
            status(UNHEALTHY).partition("\t      sdd")[0],
            "raidz2x6",
            "NOT KNOWN: how many drives raidz2-0 has",
        ),
    ],
)
def test_what_is_not_shown_is_assumed_alike_and_said_first(text: str, layout: str, said: str) -> None:
    imported, paste = import_pasted(text), read_paste(text)
    assert str(imported.scenario.layout) == str(paste.scenario.layout) == layout
    assert imported.scenario.stated() == paste.scenario.stated()
    assert imported.notes[0].startswith(said)
    assert paste.notes[0] == imported.notes[0]


def test_a_missing_drive_behind_a_number_is_still_named() -> None:
    scenario = import_pasted(status(NUMBERS)).scenario
    assert scenario.drive_size == 8 * 10**12
    assert (scenario.replaced_drives, scenario.old_drive) == (1, "missing")


def test_without_a_running_scan_nothing_is_assumed() -> None:
    over = "  scan: resilvered 743G in 10:36:02 with 0 errors on Sun Oct  6 11:02:18 2024\n"
    with pytest.raises(InputError, match="no file shows the vdevs"):
        import_pasted(HEAD + over)
    with pytest.raises(InputError, match="without -e"):
        import_pasted(HEAD + over + CONFIG.format(rows=UNHEALTHY.replace("sdk ", "sdk2")))


def test_names_are_not_numbers_and_drives_no_vdevs() -> None:
    (found,) = read_status(status(NUMBERS.replace("11937289304462842381", "raidz1-0            ")))
    assert not found.by_number
    assert found.vdevs[0].parity == 1
    pair = "\t  1193728930446284238  ONLINE  0 0 0\n\t    11  ONLINE  0 0 0\n\t    12  ONLINE  0 0 0\n"
    (found,) = read_status(status(pair))
    assert found.vdevs[0].kind == "mirror"


def test_other_texts_are_left_as_they_are() -> None:
    for text in ("zpool scan: what is it?\n", "a scan: resilver\n", HEAD + SCAN.format(wrote="1G")):
        assert as_status(text) == text


@pytest.mark.parametrize(
    ("issued", "wrote", "replaced", "width"),
    [
        (600, 100, 1, 6),
        (600, 200, 2, 6),
        (600, 92, 1, None),
        (100, 100, 1, 1),
        (200, 100, 1, None),
        (6, 0, 1, None),
    ],
)
def test_what_is_written_tells_how_many_drives_hold_a_vdev(
    issued: int, wrote: int, replaced: int, width: int | None
) -> None:
    scan = Scan("resilver", "running", form="2.2", issued=issued << 30, repaired=wrote << 30)
    assert width_of(scan, replaced) == width
    # Before 2.2 what other vdevs hold counts as issued too, and to 0.7 there is no such counter.
    before = Scan("resilver", "running", form="2.0", issued=issued << 30, repaired=wrote << 30)
    legacy = Scan("resilver", "running", form="legacy", scanned=issued << 30, repaired=wrote << 30)
    assert width_of(before) == width_of(legacy) == (1 if width == 1 else None)
