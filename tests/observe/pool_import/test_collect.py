"""Asking a pool itself, with commands that stand in for zpool and its like; the script; pipes."""

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.observe.collect import commands, live
from zsim.observe.collect.live import import_live
from zsim.observe.collect.script import script
from zsim.observe.pool_import.importing import import_pool

STATUS = """\
  pool: tank
 state: DEGRADED
  scan: resilver in progress since Thu Nov  2 18:20:13 2023
\t9.71T / 13.5T scanned at 8.18G/s, 3.04T / 13.5T issued at 742M/s
\t498G resilvered, 22.52% done, 04:06:11 to go
config:

\tNAME                                          STATE     READ WRITE CKSUM
\ttank                                          DEGRADED     0     0     0
\t  raidz1-0                                    DEGRADED     0     0     0
\t    /dev/disk/by-id/wwn-0x5000c500a0000001    ONLINE       0     0     0
\t    /dev/disk/by-id/wwn-0x5000c500a0000002    ONLINE       0     0     0
\t    /dev/disk/by-id/wwn-0x5000c500a0000003    ONLINE       0     0     0

errors: No known data errors
"""
ZPOOL = f"""#!/bin/sh
echo "zpool $*" >> "$LOG"
case "$1 $2" in
"status -P") cat <<'EOF'
{STATUS}EOF
;;
"list -vHpP") echo 'tank 54000000000000 27000000000000 27000000000 - - 11 50 1.00 DEGRADED -' |
tr ' ' '\\t' ;;
"history -i") echo "History for 'tank':"
echo "2023-10-01.00:00:00 [txg:5] scan setup func=1 mintxg=0 maxtxg=5"
echo "2023-10-01.20:00:00 [txg:9] scan done errors=0" ;;
"get -Hp") printf 'tank\\tashift\\t12\\tlocal\\n' ;;
"iostat -vly") printf 'tank 1 2 3 4 5 6\\n' ;;
*) echo "invalid option" >&2; exit 2 ;;
esac
"""
FAKES = {
    "zpool": ZPOOL,
    "zfs": "#!/bin/sh\ncase $1 in version) echo zfs-2.2.2-1; echo zfs-kmod-2.2.2-1;; get) printf 'tank\\trecordsize\\t1048576\\n';; esac\n",  # noqa: E501
    "lsblk": "#!/bin/sh\n" + "".join(
        f"echo 'NAME=\"sd{c}\" MODEL=\"ST18000NM000J-2TV103\" SERIAL=\"ZR52000{c}\" SIZE=\"18000207937536\" ROTA=\"1\" LOG-SEC=\"512\" PHY-SEC=\"4096\"'\n"  # noqa: E501
        for c in "abc"
    ),
    "ls": "#!/bin/sh\n" + "".join(
        f"echo 'lrwxrwxrwx 1 root root 9 Nov 2 wwn-0x5000c500a000000{n} -> ../../sd{c}'\n" for n, c in enumerate("abc", 1)  # noqa: E501
    ),
    "zdb": "#!/bin/sh\nsleep 5\n",
}  # fmt: skip


@pytest.fixture
def host(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in FAKES.items():
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setattr(commands, "LONG_S", 0.5)
    short = tuple(
        commands.CollectedCommand(
            each.file, each.ways, 0.5 if each.file == "config.txt" else 10.0, each.needed, each.while_scanning
        )
        for each in commands.COMMANDS
    )
    monkeypatch.setattr(live, "COMMANDS", short)
    return tmp_path


def test_a_pool_of_this_host_is_asked(host):
    told = []
    found = import_live("tank", on_command=told.append)
    stated = found.scenario.stated()
    assert (stated["layout"], stated["drive"], stated["release"]) == (
        "raidz1x3",
        "st18000nm000j",
        "openzfs-2.2.2",
    )
    assert (stated["alloc"], stated["recordsize"], stated["frag"]) == (27000000000000, 1 << 20, 0.11)
    assert [each["what"] for each in stated["evidence"]] == ["finished", "running"]
    assert stated["evidence"][1]["elapsed"] > 86400
    assert told[0] == "zfs version"
    assert "zpool history -i tank" in told
    assert any("zdb -C tank gave no output: it was stopped after" in note for note in found.notes)
    assert any("zpool events -v tank gave no output: invalid option" in note for note in found.notes)
    asked = (host / "log").read_text().splitlines()
    assert all(line.split()[1] in ("status", "list", "get", "history", "events", "iostat") for line in asked)


def test_the_command_line_asks_and_says_what_it_ran(host, capsys):
    assert main(["import", "--pool", "tank", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["scenario"]["layout"] == "raidz1x3"
    assert "zsim: running zpool status -P tank" in printed.err
    assert main(["import", "--pool", "tank", "-o", str(host / "p.toml")]) == 0
    assert (host / "p.toml").is_file()


@pytest.mark.parametrize("name", ["-x", "tank;rm", "../tank", "", "a" * 300, "tank\n", "tank/fs"])
def test_what_is_no_name_of_a_pool_is_never_run(name, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *args, **more: pytest.fail("it was run"))
    with pytest.raises(InputError, match="--pool"):
        import_live(name)


def test_without_zpool_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        live, "run", lambda words, *_: live.Outcome(" ".join(words), "", "there is no such command here")
    )
    assert main(["import", "--pool", "tank"]) == 2
    assert "zpool status -P tank: there is no such command here" in capsys.readouterr().err


def test_a_command_is_stopped_and_one_that_is_not_there_is_said():
    slow = live.run([sys.executable, "-c", "import time; time.sleep(30)"], 0.2)
    assert slow.problem == "it was stopped after 0 s"
    assert live.run(["no-such-command-anywhere"], 1.0).problem == "there is no such command here"
    assert live.run([sys.executable, "-c", "raise SystemExit(3)"], 20.0).problem.startswith("it ended with 3")


def test_the_script_collects_what_the_import_reads(host):
    path = host / "zsim-collect"
    path.write_text(script())
    done = subprocess.run(
        ["sh", str(path), "tank"], capture_output=True, text=True, timeout=120, env=os.environ, check=True
    )
    (host / "pool.txt").write_text(done.stdout)
    found = import_pool([host / "pool.txt"])
    assert (found.pool, found.scenario.drive) == ("tank", "st18000nm000j")
    assert [each.what for each in found.scenario.evidence] == ["finished", "running"]
    assert found.scenario.evidence[1].at is not None
    refused = subprocess.run(
        ["sh", str(path), "-x; true"], capture_output=True, text=True, timeout=20, check=False
    )
    assert refused.returncode == 2


def test_the_script_is_printed(capsys):
    assert main(["import", "--script"]) == 0
    assert capsys.readouterr().out.startswith("#!/bin/sh\n")


def test_toml_goes_through_a_pipe_into_a_scenario(tmp_path, capsys, monkeypatch):
    (tmp_path / "s.txt").write_text(STATUS)
    assert main(["import", str(tmp_path / "s.txt"), "-o", "-"]) == 0
    printed = capsys.readouterr()
    assert 'layout = "raidz1x3"' in printed.out
    assert "NOT KNOWN" in printed.err
    monkeypatch.setattr(sys, "stdin", io.StringIO(printed.out))
    assert main(["scenario", "show", "--scenario", "-", "--json"]) == 0
    assert '"layout": "raidz1x3"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"), [("", "nothing came from it"), ("  pool: tank\n", "it is not TOML")]
)
def test_what_is_no_scenario_on_the_standard_input(text, words, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["predict", "-"]) == 2
    assert words in capsys.readouterr().err


def test_standard_input_of_import(tmp_path):
    (tmp_path / "s.txt").write_text(STATUS)
    line = [sys.executable, "-m", "zsim", "import", "-", "--json"]
    root = str(Path(__file__).parents[3])
    with (tmp_path / "s.txt").open() as stream:
        done = subprocess.run(line, stdin=stream, capture_output=True, text=True, timeout=120, check=True,
                              env={**os.environ, "PYTHONPATH": root})  # fmt: skip
    assert json.loads(done.stdout)["pool"] == "tank"


def test_options_that_exclude_each_other(capsys):
    assert main(["import"]) == 2
    assert "--pool NAME" in capsys.readouterr().err
    assert main(["import", "x", "-o", "-", "--json"]) == 2
    assert main(["predict", "-", "--scenario", "x.toml"]) == 2
