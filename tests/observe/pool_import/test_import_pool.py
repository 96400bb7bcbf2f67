"""zsim import: from a directory of outputs to a scenario that zsim predict reads."""

import gzip
import json
import os
import re
import shutil
import threading
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.cli.main import main
from zsim.observe.cleaning import are_lines
from zsim.observe.pool_import.importing import beside, import_pasted, import_pool
from zsim.observe.pool_import.vdev_sizes import smallest_drive
from zsim.observe.texts import nice_bytes
from zsim.scenario.evidence import ClassAlloc
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.releases.capacity import vdev_asize

FIXTURES = Path(__file__).parents[1] / "fixtures"
POOL = FIXTURES / "raidz2-2.2"


def imported(*names, **more):
    return import_pool([FIXTURES / name for name in names], **more)


def stated(*names, **more):
    return imported(*names, **more).scenario.stated()


def test_a_whole_directory():
    found = imported("raidz2-2.2")
    (running,) = found.scenario.evidence
    assert (running.what, running.format, running.done) == ("running", "2.2+", 0.2252)
    assert found.scenario.replace(evidence=None).stated() == {
        "layout": "raidz2x6", "alloc": 14843406974976, "drive_size": 4000785891328,
        "new_drive_size": 6001173954560,
        "recordsize": 131072, "frag": 0.11, "ashift": 12, "memory": 32817392 << 10, "cpus": 8,
        "release": "openzfs-2.2.2", "operation": "resilver", "replace": 1, "old_drive": "missing",
    }  # fmt: skip
    assert set(found.tables) == {"blocks.csv", "metaslabs.csv"}
    assert found.notes == ()
    assert {each.field for each in found.assumptions} >= {"drive", "history", "load"}
    assert resolve(found.scenario).pool_size == pytest.approx(23992891637760, rel=0.002)


def test_the_seed_of_freebsd_is_the_case_that_is_validated():
    found = stated("status-freebsd-9.1-running.txt", "list-freebsd-9.1.txt")
    assert [each["kind"] for each in found.pop("evidence")] == ["resilver"]
    assert found == {
        "layout": "raidz2x5", "alloc": nice_bytes("2.84T"), "drive_size": 10**12, "release": "freebsd-9.2",
        "operation": "resilver", "replace": 1, "old_drive": "missing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("status-solaris-v35-six.txt", ("raidz2x6", "solaris-11.2", "resilver", 6, "online", None)),
        ("status-solaris-v34.txt", ("raidz2x6", "solaris-11.1", "resilver", 1, "online", None)),
        ("status-freebsd-9.2-scrub.txt", ("mirror2", "freebsd-9.2", "scrub", None, None, None)),
        ("status-freebsd-9.1-done.txt", ("raidz2x5", "freebsd-9.2", None, None, None, None)),
        ("status-0.7.txt", ("2*mirror2+log:disk+cache:1+spare:1", "zol-0.7", "resilver", 1, "missing", None)),
        ("status-0.8.txt", ("raidz1x3+spare:1", "openzfs-0.8", "resilver", 1, "missing", None)),
        ("status-2.1.txt", ("raidz3x7+special:mirror2", "openzfs-2.1", "resilver", 1, "missing", None)),
        (
            "status-rebuild-2.1.txt",
            ("draid2:4d:11c:1s", "openzfs-2.1", "rebuild", 1, "missing", "distributed-spare"),
        ),
        ("status-2.3.json", ("raidz2x6", "openzfs-2.3", "resilver", 1, "online", None)),
    ],
)
def test_every_status_alone_gives_a_scenario(name, wanted):
    found = stated(name)
    fields = ("layout", "release", "operation", "replace", "old_drive", "target")
    assert tuple(found.get(field) for field in fields) == wanted
    resolve(Scenario.from_dict(found))


def test_the_toml_is_read_back_and_says_where_it_is_from(tmp_path):
    found = imported("raidz2-2.2")
    written = found.write(tmp_path / "pool.zsim.toml")
    assert [path.name for path in written] == [
        "pool.zsim.toml",
        "pool.zsim.blocks.csv",
        "pool.zsim.metaslabs.csv",
    ]
    read = Scenario.read(tmp_path / "pool.zsim.toml")
    assert read.blocks == str(tmp_path / "pool.zsim.blocks.csv")
    assert read.metaslabs == str(tmp_path / "pool.zsim.metaslabs.csv")
    assert read.replace(blocks=None, metaslabs=None) == found.scenario
    text = (tmp_path / "pool.zsim.toml").read_text()
    assert "# scan: resilver running since Thu Nov 2 18:20:13 2023, 9.71T of 13.5T scanned" in text
    assert (tmp_path / "pool.zsim.blocks.csv").read_text().startswith("type,level,quantity,size,blocks\n")
    slabs = (tmp_path / "pool.zsim.metaslabs.csv").read_text().splitlines()
    assert len(slabs) == 25
    assert slabs[1].startswith("0,0,0,6560562545,9,14:78 ")


def test_predict_answers_for_an_import(tmp_path, capsys):
    target = tmp_path / "pool.zsim.toml"
    assert main(["import", str(FIXTURES / "status-0.8.txt"), "-o", str(target)]) == 0
    assert main(["scenario", "show", "--scenario", str(target), "--json"]) == 0
    assert '"layout": "raidz1x3+spare:1"' in capsys.readouterr().out


@pytest.mark.slow
def test_predict_simulates_an_import(tmp_path):
    target = tmp_path / "pool.zsim.toml"
    assert main(["import", str(POOL), "-o", str(target)]) == 0
    assert main(["predict", "--scenario", str(target), "--json"]) == 0


def test_json_on_stdout_and_nothing_else(tmp_path, capsys):
    assert main(["import", str(POOL), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["pool"] == "tank"
    assert data["files"]["blocks.txt"] == ["zdb -b"]
    assert data["progress"]["done"] == 0.2252
    assert data["written"] == []
    assert {each["field"] for each in data["findings"]} == set(data["scenario"])


def test_the_list_of_pointers_is_kept_beside_the_scenario(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    source = tmp_path / "bp.txt.gz"
    source.write_bytes(gzip.compress((FIXTURES / "pointers.txt").read_bytes()))
    status, target = str(FIXTURES / "status-2.1.txt"), str(tmp_path / "p.zsim.toml")
    assert main(["import", status, str(source), "-o", target]) == 0
    assert (tmp_path / "p.zsim.blocks.parquet").is_file()
    assert "zdb -Lbbbbb, zdb -b" in capsys.readouterr().out
    (tmp_path / "p.zsim.blocks.parquet").unlink()
    assert main(["import", status, str(source), "-o", target, "--no-blocks"]) == 0
    assert not (tmp_path / "p.zsim.blocks.parquet").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_list_may_come_from_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = (FIXTURES / "pointers.txt").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    found = import_pool([FIXTURES / "status-2.1.txt", pipe], blocks=tmp_path / "b.parquet")
    writer.join()
    assert found.contents["pipe"] == ["zdb -Lbbbbb", "zdb -b"]


def test_a_refused_import_leaves_nothing(tmp_path, capsys):
    target = tmp_path / "out" / "p.zsim.toml"
    target.parent.mkdir()
    assert main(["import", str(FIXTURES / "pointers.txt"), "-o", str(target)]) == 2
    assert "layout is missing" in capsys.readouterr().err
    assert list(target.parent.iterdir()) == []


def test_several_pools_need_a_name():
    with pytest.raises(InputError, match="about export, tank; name one: zsim import --pool tank"):
        imported("list-freebsd-9.1.txt", "status-0.7.txt")
    assert (
        stated("list-freebsd-9.1.txt", "status-0.7.txt", pool="tank")["layout"]
        == "2*mirror2+log:disk+cache:1+spare:1"
    )
    with pytest.raises(InputError, match="the files are about"):
        imported("status-0.7.txt", pool="other")


def test_the_running_one_of_two_statuses_counts():
    found = imported("status-freebsd-9.1-running.txt", "status-freebsd-9.1-done.txt")
    assert found.progress.state == "running"


def test_overrides_are_not_called_found():
    found = imported("status-0.7.txt", overrides=["drive_size=8TB", "release="])
    assert found.scenario.drive_size == 8 * 10**12
    assert "release" not in {each.field for each in found.findings}


def test_unknown_files_are_named(tmp_path):
    shutil.copy(FIXTURES / "status-0.7.txt", tmp_path)
    (tmp_path / "holiday.txt").write_text("nothing of use")
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)) * 40)
    assert imported(tmp_path).notes[-1] == "in no known format and left out: holiday.txt, picture.bin"


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"words", "шум".encode("utf-16")])
def test_files_without_anything_known_are_refused(tmp_path, content):
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(InputError, match="none is the output of zpool or zdb"):
        import_pool([tmp_path])


def test_a_missing_or_damaged_file_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        import_pool([tmp_path / "none.txt"])
    with pytest.raises(InputError, match="from 1 to 1000 files"):
        import_pool([tmp_path])
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"x" * 100_000)[:40])
    with pytest.raises(InputError, match=r"cut\.txt\.gz"):
        import_pool([tmp_path])


SINGLE = (
    "  pool: t\n state: ONLINE\n  scan: {scan}\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n"
    "\tt  ONLINE  0 0 0\n{rows}\nerrors: No known data errors\n"
)


def test_a_pool_of_single_drives_is_scrubbed():
    rows = "\t  sda  ONLINE  0 0 0\n\t  sdb  ONLINE  0 0 0\n"
    line = "scrub repaired 0B in 01:00:00 with 0 errors on Sun Nov 15 01:17:43 2026"
    found = import_pasted(SINGLE.format(scan=line, rows=rows)).scenario
    assert (str(found.layout), found.operation) == ("2*disk", "scrub")
    assert [each.kind for each in found.evidence] == ["scrub"]


def test_a_single_drive_beside_a_mirror_stands_behind_it_in_a_resilver():
    rows = "\t  sda  ONLINE  0 0 0\n\t  mirror-1  ONLINE  0 0 0\n\t    b  ONLINE  0 0 0\n\t    c  ONLINE  0 0 0\n"  # noqa: E501
    idle = import_pasted(SINGLE.format(scan="none requested", rows=rows))
    assert str(idle.scenario.layout) == "mirror2+disk"
    scrub = import_pasted(SINGLE.format(scan="scrub in progress since Sun Nov 15 01:17:43 2026", rows=rows))
    assert str(scrub.scenario.layout) == "disk+mirror2"


def test_the_vdev_being_repaired_comes_first(tmp_path):
    text = (FIXTURES / "status-0.8.txt").read_text()
    mirror = "\t  mirror-9  ONLINE  0 0 0\n\t    a  ONLINE  0 0 0\n\t    b  ONLINE  0 0 0\n"
    (tmp_path / "s.txt").write_text(text.replace("\t  raidz1-0", mirror + "\t  raidz1-0"))
    found = import_pool([tmp_path])
    assert str(found.scenario.layout) == "raidz1x3+mirror2+spare:1"
    assert any("stands first" in note for note in found.notes)


def test_a_missing_drive_that_nobody_replaced_yet(tmp_path):
    text = (FIXTURES / "status-freebsd-9.1-done.txt").read_text().replace("ada4p1  ONLINE", "ada4p1  UNAVAIL")
    (tmp_path / "s.txt").write_text(text)
    found = import_pool([tmp_path])
    assert (found.scenario.old_drive, found.scenario.replaced_drives, found.scenario.operation) == (
        "missing",
        1,
        None,
    )
    assert any("not replaced yet" in note for note in found.notes)


@pytest.mark.parametrize("layout", ["raidz2x6", "mirror2", "3*raidz1x5+mirror3", "draid2:4d:11c:1s"])
@pytest.mark.parametrize("drive", [10**12, 4000787030016, 20 * 10**12])
def test_the_drive_size_follows_from_the_address_space(layout, drive):
    specs = Layout.parse(layout).vdevs
    total = sum(vdev_asize(spec, drive) for spec in specs)
    found = smallest_drive(specs, total)
    assert found <= drive
    assert sum(vdev_asize(spec, found) for spec in specs) == total


def test_names_of_side_files():
    assert beside(Path("a/pool.zsim.toml"), "blocks.csv") == Path("a/pool.zsim.blocks.csv")


def test_hostile_names_stay_inside_comments(tmp_path):
    text = (FIXTURES / "status-0.7.txt").read_text()
    text = text.replace("Mon Mar  5 09:12:44 2018", 'x"\x1b[31m\u2028layout = "mirror3"')
    (tmp_path / "s.txt").write_text(text)
    found = import_pool([tmp_path])
    found.write(tmp_path / "p.toml")
    assert Scenario.read(tmp_path / "p.toml") == found.scenario
    assert "\x1b" not in (tmp_path / "p.toml").read_text()


STATUS = """  pool: tank
 state: DEGRADED
  scan: resilver in progress since Sun Nov 22 10:01:17 2026
\t12.1T scanned at 3.00G/s, 4.02T issued at 1.00G/s, 21.5T total
\t480G resilvered, 18.70% done, 05:00:00 to go
config:

\tNAME             STATE     READ WRITE CKSUM
\ttank             DEGRADED     0     0     0
\t  mirror-0       ONLINE       0     0     0
\t    sda          ONLINE       0     0     0
\t    sdb          ONLINE       0     0     0
\t  mirror-3       ONLINE       0     0     0
\t    sdc          ONLINE       0     0     0
\t    sdd          ONLINE       0     0     0
\tspecial
\t  mirror-1       DEGRADED     0     0     0
\t    replacing-0  DEGRADED     0     0     0
\t      nvme0n1    OFFLINE      0     0     0
\t      nvme9n1    ONLINE       0     0     0  (resilvering)
\t    nvme1n1      ONLINE       0     0     0
\tlogs
\t  nvme2n1        ONLINE       0     0     0
\tcache
\t  nvme4n1        ONLINE       0     0     0
\tspares
\t  sdy            AVAIL

errors: No known data errors
"""
LISTED = """NAME          SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
tank         7.26T  3.60T  3.66T        -         -    12%    49%  1.00x  DEGRADED  -
  mirror-0   3.62T  2.90T   740G        -         -    18%  80.1%      -    ONLINE
  mirror-3   3.62T   700G  2.94T        -         -     3%  18.9%      -    ONLINE
special          -      -      -        -         -      -      -      -         -
  mirror-1    888G   112G   776G        -         -    40%  12.6%      -  DEGRADED
logs             -      -      -        -         -      -      -      -         -
  nvme2n1    13.5G    24K  13.5G        -         -     0%  0.00%      -    ONLINE
cache            -      -      -        -         -      -      -      -         -
  nvme4n1     447G   300G   147G        -         -     0%  67.0%      -    ONLINE
"""


def test_vdevs_of_other_classes_are_kept(tmp_path):
    for name, text in (("status.txt", STATUS), ("list.txt", LISTED)):
        (tmp_path / name).write_text(text)
    found = import_pool([tmp_path / "status.txt", tmp_path / "list.txt"])
    plain = found.scenario.stated()
    wanted = {
        "layout": "2*mirror2+special:mirror2+log:disk+cache:1+spare:1", "special_drive_size": 960 * 10**9,
        "special_drive": "generic-nvme-ssd", "replace_in": "special", "replace": 1, "old_drive": "missing",
        "drive_size": 4 * 10**12, "operation": "resilver",
    }  # fmt: skip
    assert {name: plain[name] for name in wanted} == wanted
    assert plain["vdev_fills"] == pytest.approx([0.801, 0.189], abs=0.002)
    assert "alloc" not in plain
    assert plain["vdev_frags"] == [0.18, 0.03]
    assert "frag" not in plain
    case = resolve(found.scenario)
    assert case.frag == 0.18, "of the vdev that was there before the other"
    assert case.new_drive.name == "generic-nvme-ssd"
    assert case.classes.growth.stages[0][1] == (2,), "behind the special vdev, which is repaired"


def test_what_special_vdevs_hold_is_evidence_and_small_blocks_a_property() -> None:
    found = import_pasted(STATUS + "\n" + LISTED).scenario
    (seen,) = [each for each in found.evidence or () if isinstance(each, ClassAlloc)]
    assert (seen.alloc_class, seen.held, seen.source) == ("special", 112 * 2**30, "zpool list -v")
    assert found.special_small_blocks is None
    settings = (
        "tank\tspecial_small_blocks\t0\tdefault\ntank/db\tspecial_small_blocks\t16384\tlocal\n"
        "tank\tusedbydataset\t98304\t-\ntank/db\tusedbydataset\t1099511627776\t-\n"
    )
    told = import_pasted(STATUS + "\n" + LISTED + "\n" + settings).scenario
    assert told.special_small_blocks == 16384, "of the dataset that holds most"
    none = settings.replace("1099511627776", "4096")
    assert import_pasted(STATUS + "\n" + LISTED + "\n" + none).scenario.special_small_blocks == 0
    plain = STATUS.replace("\tspecial\n", "").replace("mirror-1 ", "mirror-4 ")
    assert import_pasted(plain + settings).scenario.special_small_blocks is None, "no such vdev"


OF_TWO_SIZES = """NAME	SIZE	ALLOC	FREE	CKPOINT	EXPANDSZ	FRAG	CAP	DEDUP	HEALTH	ALTROOT
vault	5979000000000	5101733952881	877266047119	-	-	5	85	1.00	DEGRADED	-
	mirror-0	3985000000000	3606400000000	378600000000	-	-	5	90	-	ONLINE
	mirror-1	1994000000000	1495333952881	498666047119	-	-	5	75	-	DEGRADED
"""


@pytest.mark.parametrize(("listed", "fills"), [("", (0.427, 0.853)), (OF_TWO_SIZES, (0.375, 0.905))])
def test_vdevs_of_drives_of_two_sizes(listed, fills):
    # The names say 4 TB and 2 TB; what each holds stands in zpool list, else it is divided as the space is.
    found = import_pasted((FIXTURES / "status-two-sizes.txt").read_text() + listed)
    assert found.scenario.drive_size == 4 * 10**12
    assert found.scenario.vdev_fills == pytest.approx(fills, abs=0.002)
    assert found.scenario.alloc is None
    assert found.scenario.vdev_frags is None, "all are simulated with the larger drives"
    assert any("each vdev with what it holds" in note for note in found.notes)
    # 29.1G of 1.36T resilvered at "53 % done": the other mirror was skipped, this is no heal.
    (running,) = found.scenario.evidence
    assert running.kind == "resilver"
    case = resolve(found.scenario)
    assert case.alloc == pytest.approx(4.64 * (1 << 40), rel=0.005)


def test_what_has_a_line_longer_than_any_output_is_none_and_not_searched(tmp_path) -> None:
    (tmp_path / "status.txt").write_bytes((FIXTURES / "status-2.1.txt").read_bytes())
    (tmp_path / "long.txt").write_bytes(b"a\n" * 700_000 + b"x" * 1_000_001)
    assert imported(tmp_path).notes[-1] == "in no known format and left out: long.txt"
    assert not are_lines("a\n" * 700_000 + "x" * 1_000_001)
    assert are_lines("a\n" * 700_000 + "x" * 1_000_000)


def test_a_list_without_numbers_in_its_names_is_told_by_its_order():
    # Up to 0.8 and FreeBSD 12 zpool list -v prints mirror where zpool status prints mirror-1.
    numbered = import_pasted(STATUS + "\n" + LISTED).scenario
    bare = import_pasted(STATUS + "\n" + re.sub(r"mirror-\d", "mirror  ", LISTED)).scenario
    assert bare.stated() == numbered.stated()
    assert bare.special_drive_size == 960 * 10**9


HEALTHY = """\
  pool: boot-pool
 state: ONLINE
  scan: scrub repaired 0B in 00:00:19 with 0 errors on Fri Nov 14 03:45:20 2025
config:

\tNAME         STATE     READ WRITE CKSUM
\tboot-pool    ONLINE       0     0     0
\t  nvme0n1p3  ONLINE       0     0     0

errors: No known data errors

"""


def test_of_several_pools_the_one_in_trouble_is_taken(tmp_path):
    sick = (FIXTURES / "status-2.1.txt").read_text()
    (tmp_path / "status.txt").write_text(HEALTHY + sick)
    found = import_pool([tmp_path / "status.txt"])
    assert found.pool != "boot-pool"
    assert any("the one in trouble is taken" in note for note in found.notes)
    (tmp_path / "status.txt").write_text(HEALTHY + HEALTHY.replace("boot-pool", "tank"))
    with pytest.raises(InputError, match="name one: zsim import --pool boot-pool"):
        import_pool([tmp_path / "status.txt"])


TWO_LISTED = """\
NAME        SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
boot-pool   230G  8.11G   222G        -         -     3%     3%  1.00x    ONLINE  -
tank       7.25T  4.11T  3.14T        -         -    12%    56%  1.00x  DEGRADED  -
  mirror-0 3.62T  2.05T  1.57T        -         -    12%    56%      -  DEGRADED
    sda    3.64T      -      -        -         -      -      -      -   REMOVED
    sdb    3.64T      -      -        -         -      -      -      -    ONLINE
  mirror-1 3.62T  2.06T  1.56T        -         -    12%    56%      -    ONLINE
    sdc    3.64T      -      -        -         -      -      -      -    ONLINE
    sdd    3.64T      -      -        -         -      -      -      -    ONLINE
"""


def test_a_list_tells_which_of_its_pools_is_in_trouble():
    found = import_pasted(TWO_LISTED)
    assert found.pool == "tank"
    assert any("the one in trouble is taken, tank: zsim import --pool" in note for note in found.notes)
    with pytest.raises(InputError, match="name one: zsim import --pool boot-pool"):
        import_pasted(TWO_LISTED.replace("DEGRADED", "ONLINE"))


def test_the_pool_whose_status_is_shown_is_asked_about():
    # A list shows the boot pool as well; the status beside it is of one pool alone.
    status = HEALTHY.replace("boot-pool", "tank").replace("nvme0n1p3", "sda")
    found = import_pasted(status + TWO_LISTED.replace("DEGRADED", "ONLINE"))
    assert (found.pool, found.scenario.alloc) == ("tank", round(4.11 * 1024**4))
    assert any("the one whose status is shown is taken, tank" in note for note in found.notes)


NAMED_SPECIAL = """\
  pool: vault
 state: DEGRADED
  scan: resilver in progress since Tue Mar 11 09:14:22 2025
\t1.2T / 3.3T scanned at 9.80G/s, 0B / 3.3T issued
\t0B resilvered, 0.00% done, no estimated completion time
config:

\tNAME                                               STATE     READ WRITE CKSUM
\tvault                                              DEGRADED     0     0     0
\t  mirror-0                                         ONLINE       0     0     0
\t    ata-WDC_WD40EFRX-68N32N0_WD-W1                 ONLINE       0     0     0
\t    ata-WDC_WD40EFRX-68N32N0_WD-W2                 ONLINE       0     0     0
\tspecial
\t  mirror-1                                         DEGRADED     0     0     0
\t    replacing-0                                    DEGRADED     0     0     0
\t      ata-Samsung_SSD_860_EVO_1TB_S3Z8NB0K000001A  FAULTED     14   209     0  too many errors
\t      ata-Samsung_SSD_860_EVO_1TB_S3Z8NB0K000002B  ONLINE       0     0     0  (resilvering)
\t    ata-Samsung_SSD_860_EVO_1TB_S3Z8NB0K000003C    ONLINE       0     0     0
\tlogs
\t  nvme0n1p2                                        ONLINE       0     0     0

errors: No known data errors
"""


def test_names_tell_the_drives_of_special_vdevs(tmp_path):
    (tmp_path / "status.txt").write_text(NAMED_SPECIAL)
    stated = import_pool([tmp_path / "status.txt"]).scenario.stated()
    assert (stated["drive"], stated["replace_in"]) == ("wd40efrx", "special")
    assert stated["special_drive"] == "860-evo-1tb"
    assert stated["special_drive_size"] == pytest.approx(1e12, rel=1e-3)
