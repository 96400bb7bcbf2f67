"""The how-tos for contributors, followed literally in a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zsim

REPOSITORY = Path(zsim.__file__).parents[1]
HOW_TO = REPOSITORY / "docs" / "how-to"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package, its models and its tests."""
    skipped = shutil.ignore_patterns("__pycache__", "_data")
    for room in ("zsim", "models", "tests"):
        shutil.copytree(REPOSITORY / room, tmp_path / room, ignore=skipped)
    (tmp_path / "validation").symlink_to(REPOSITORY / "validation")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    return tmp_path


def files_of(page: str) -> dict[str, str]:
    """Return the files that a page has one write: a path in backticks and a colon, then a block."""
    text = (HOW_TO / page).read_text()
    found = re.findall(r"`([\w./-]+\.\w+)`:\n+```\w+\n(.*?)```", text, re.DOTALL)
    return dict(found)


def write(house: Path, page: str) -> None:
    files = files_of(page)
    assert files, "the page writes no file"
    for name, content in files.items():
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).write_text(content)


def run(house: Path, *command: str, compiled: bool = True) -> str:
    """Return what a command prints in the copy."""
    extra = {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    environment = {**os.environ, **extra, "PYTHONPATH": str(house), "ZSIM_CACHE_DIR": str(house / "cache")}
    line = [sys.executable, "-m", *command]
    done = subprocess.run(line, cwd=house, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def command_in(page: str, start: str) -> list[str]:
    """Return the words of the command of a page that begins so."""
    lines = (HOW_TO / page).read_text().splitlines()
    return next(line for line in lines if line.startswith(start)).split()


def cli(house: Path, page: str, start: str) -> str:
    """Return what the command of a page that begins so prints."""
    return run(house, *command_in(page, start))


def test_a_drive_of_the_catalogue_is_one_file_of_sources(house: Path) -> None:
    page = "add-a-drive.md"
    write(house, page)
    before = {path.name: path.read_text() for path in (house / "models" / "drives").glob("*.toml")}
    script = command_in(page, "python models/drives")[1]
    run_script(house, script)
    after = {path.name: path.read_text() for path in (house / "models" / "drives").glob("*.toml")}
    assert {name for name in after if after[name] != before.get(name)} == {"st6000vn001.toml"}
    assert "ST6000VN001" in cli(house, page, "zsim drives show")
    run(
        house,
        "pytest",
        "-q",
        "-n",
        "0",
        "tests/drives/test_catalogue.py",
        "-k",
        "generate or unit or sourced",
    )


def run_script(house: Path, script: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(
        [sys.executable, script], cwd=house, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_release_is_one_file(house: Path) -> None:
    page = "add-a-release.md"
    write(house, page)
    code = (
        "from zsim.scenario.releases.profile import load_release\n"
        "new, old = load_release('openzfs-2.5'), load_release('openzfs-2.4.0')\n"
        "print(new.name, new.year, sorted(n for n in old.tunables if new.tunables.get(n) != old.tunables[n])"
        ")\n"
        "print(new.details['zfs_txg_timeout'].source)\n"
    )
    (house / "say.py").write_text(code)
    assert run(house, "say", compiled=False).splitlines() == [
        "openzfs-2.5.1 2027 ['zfs_mg_noalloc_threshold', 'zfs_scan_vdev_limit', 'zfs_vdev_scrub_max_active']",
        "OpenZFS 2.5.0 txg.c",
    ]
    told = run(house, *command_in(page, "python -m pytest")[2:], "-n", "0", "-k", "vdev_scrub or vdev_limit")
    assert "passed" in told


def test_an_output_is_one_module_and_a_line(house: Path) -> None:
    write(house, "add-an-observed-format.md")
    registry = house / "zsim" / "observe" / "pool_import" / "given" / "readers.py"
    line = '    "fio or dd": benchmarks,\n'
    text = registry.read_text().replace("import host_facts,", "import lsmem, host_facts,", 1)
    assert line in text
    registry.write_text(text.replace(line, line + '    "lsmem": lsmem,\n'))
    status = (REPOSITORY / "docs" / "examples" / "zpool-status.txt").read_text()
    (house / "say.py").write_text(
        "from pathlib import Path\n"
        "from zsim.base.errors import InputError\n"
        "from zsim.observe.pool_import.given.files import read_pasted\n"
        "status = Path('status.txt').read_bytes()\n"
        "files = read_pasted(b'Total online memory:      32G\\n' + status)\n"
        "print(files.host.memory, files.contents['text'])\n"
        "print('lsmem' in read_pasted(status).contents['text'])\n"
        "try:\n    read_pasted(b'Total online memory:  much\\n')\n"
        "except InputError as error:\n    print(error)\n"
    )
    (house / "status.txt").write_text(status)
    told, without, refused = run(house, "say", compiled=False).splitlines()
    assert told == f"{32 << 30} ['zpool status', 'lsmem']"
    assert without == "False"
    assert "Total online memory 'much'" in refused


def test_a_trace_format_is_one_module_and_a_line(house: Path) -> None:
    write(house, "add-an-observed-format.md")
    registry = house / "zsim" / "observe" / "traces" / "reading.py"
    text = registry.read_text().replace("msr_cambridge\n", "msr_cambridge, sector_log\n", 1)
    registry.write_text(
        text.replace('    "fio": fio_iolog,\n', '    "sector-log": sector_log,\n    "fio": fio_iolog,\n')
    )
    (house / "log.txt").write_text("0.0;R;8;16\n0.5;W;0;8\n")
    (house / "bad.txt").write_text("0.0;R;8;16\n0.5;X;0;8\n")
    code = (
        "from zsim.observe.traces.reading import read_trace\n"
        "from zsim.base.errors import InputError\n"
        "print([(r.arrival, r.is_write, r.offset, r.length) for r in read_trace('log.txt').requests()])\n"
        "try:\n    read_trace('bad.txt')\nexcept InputError as error:\n    print(error)\n"
    )
    (house / "say.py").write_text(code)
    first, second = run(house, "say", compiled=False).splitlines()
    assert first == "[(0.0, False, 4096, 8192), (0.5, True, 0, 4096)]"
    assert "seconds;R or W" in second


def test_a_new_kind_of_vdev_is_one_file_that_passes_the_tests_of_kinds(house: Path) -> None:
    page = "add-a-vdev-kind.md"
    assert list(files_of(page)) == ["zsim/vdevs/kinds/raid4.py"]
    write(house, page)
    told = run(house, *command_in(page, "python -m pytest")[2:], "-n", "0", compiled=False)
    assert "passed" in told
    code = "from zsim.scenario.layout import Layout; print(Layout.parse('2*raid4x5'))"
    (house / "say.py").write_text(code)
    assert run(house, "say", compiled=False).strip() == "2*raid4x5"


@pytest.mark.slow
def test_a_new_kind_of_vdev_is_predicted_without_another_line(house: Path) -> None:
    page = "add-a-vdev-kind.md"
    write(house, page)
    words = command_in(page, "zsim predict")
    assert "raid4x5" in run(house, *words)
    words[words.index("0.3")] = "0.01"
    whole = [*words, "--exact", "--json", "--engine"]
    compiled, reference = (run(house, *whole, engine) for engine in ("compiled", "reference"))
    answers = [json.loads(text) for text in (compiled, reference)]
    assert answers[0]["resilver_s"] == answers[1]["resilver_s"]
