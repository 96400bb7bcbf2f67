"""A `zpool list` that has another name than the one status beside it."""

from __future__ import annotations

import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.eta.reading import read_paste

STATUS = """  pool: tank
 state: DEGRADED
  scan: resilver in progress since Fri Nov 27 08:00:00 2026
\t3.20T scanned at 1.1G/s, 1.50T issued at 500M/s, 20.0T total
\t250G resilvered, 7.50% done, 10:46:00 to go
config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          DEGRADED     0     0     0
\t  raidz2-0    DEGRADED     0     0     0
\t    sda       ONLINE       0     0     0
\t    sdb       ONLINE       0     0     0
\t    sdc       ONLINE       0     0     0  (resilvering)
\t    sdd       ONLINE       0     0     0

errors: No known data errors
"""
HEAD = "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n"
ROW = "data   43.6T  20.1T  23.5T        -         -     5%    46%  1.00x  DEGRADED  -\n"
VDEV = "  raidz2-0  43.6T  20.1T  23.5T        -         -     5%  46.1%      -  DEGRADED\n"
LEAVES = "".join(
    f"    sd{name}  10.9T      -      -        -         -      -      -      -    ONLINE\n"
    for name in "abcd"
)
TAKEN = "zpool list calls the pool data and zpool status tank"


@pytest.mark.parametrize("rows", [ROW, ROW + VDEV + LEAVES])
def test_where_there_is_one_pool_in_each_and_they_agree_it_is_the_same(rows: str) -> None:
    found = import_pasted(STATUS + HEAD + rows)
    assert found.pool == "tank"
    assert found.scenario.alloc == pytest.approx(20.1 * 2**40, rel=1e-3)
    assert any(TAKEN in note for note in found.notes)
    paste = read_paste(STATUS + HEAD + rows)
    assert paste.scenario.alloc == found.scenario.alloc
    assert any(TAKEN in note for note in paste.notes)


@pytest.mark.parametrize(
    "rows",
    [
        ROW.replace("DEGRADED", "ONLINE"),
        ROW.replace("20.1T", "5.10T"),
        ROW + VDEV.replace("raidz2-0", "raidz1-0") + LEAVES,
        ROW + VDEV + LEAVES.partition("\n")[2],
        ROW + ROW.replace("data", "more"),
    ],
)
def test_what_does_not_agree_is_of_another_pool(rows: str) -> None:
    with pytest.raises(InputError, match="name one: zsim import --pool tank"):
        import_pasted(STATUS + HEAD + rows)
    paste = read_paste(STATUS + HEAD + rows)
    assert paste.scenario.alloc != pytest.approx(20.1 * 2**40, rel=1e-3)
    assert any("not tank, and is left out" in note for note in paste.notes)
