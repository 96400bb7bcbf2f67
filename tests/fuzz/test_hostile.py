"""Hostile input ends in a sentence: some of a fixed seed here, any number of any seed by `tests.fuzz.hostile`."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fuzz import running
from tests.fuzz.running import complaints, run
from tests.fuzz.surfaces import Trial
from tests.fuzz.trials import SURFACES, trial

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and forks of POSIX")


@posix
@pytest.mark.parametrize("count", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_many_hostile_inputs(count: int) -> None:
    def half(first: int) -> subprocess.CompletedProcess[str]:
        command = [
            "tests.fuzz.hostile",
            "--seed",
            "13",
            "--count",
            str(count // 2),
            "--patience",
            "10",
            "--first",
            str(first),
        ]
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(half, (0, count // 2)):
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
            assert f"{count // 2} inputs, 0 complaints" in done.stdout
            assert "leaked" not in done.stderr


def test_a_number_gives_the_same_trial_again() -> None:
    first = [trial(5, number) for number in range(3 * len(SURFACES))]
    assert first == [trial(5, number) for number in range(3 * len(SURFACES))]
    assert len({each.surface for each in first}) >= 16


@posix
@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("raise ZeroDivisionError('x')", "traceback"),
        ("import sys; sys.exit(3)", "exit code 3"),
        ("import sys; print('zsim: \\u202eno.', file=sys.stderr); sys.exit(2)", "raw U+202E"),
        ("import sys; sys.exit(2)", "no sentence"),
        ("x = [bytearray(1 << 30) for _ in range(2)]; [each.__setitem__(slice(0, 1 << 30), b'1' * (1 << 30)) for each in x]",
         "memory"),
        ("open('.out.json.x', 'w').write('half')", "left behind"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_noticed(program: str, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def main(words: list[str]) -> int:
        exec(program, {})
        return 0

    monkeypatch.setattr("zsim.cli.main.main", main)
    one = Trial("odd_files", ("predict", "--json"), {}, whole=True)
    assert any(each.startswith(complaint) for each in complaints(one, run(one)))


@posix
def test_what_the_timer_stops_is_run_again_whatever_became_of_its_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrapping(_: Trial) -> int:
        try:
            while True:
                pass
        except BaseException:
            return 70

    monkeypatch.setattr(running, "_code_of", wrapping)
    monkeypatch.setattr(running, "MOST_CPU_S", 0.1)
    monkeypatch.setattr(running, "run_forked", lambda one: one.words)
    assert run(Trial("flags", ("--version",), {})) == ("--version",)
