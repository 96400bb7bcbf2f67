"""Compare this version with another: ``python -m tests.benchmarks.compare TREE [--rows TEXT] [--runs N]``.

TREE is a checkout of the other version (``git worktree add``).  Its package and this one run in turn, so that
both see the same machine; the least processor time of each counts, or the highest rate.  What got slower, or
larger, by more than a tenth is named at the end.  The results are kept by commit in ``.benchmarks/zsim``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from .measuring import JOBS, TREE, Job, Measurement, best, first_run

WORSE = 1.10
"""Ratio from which a change is named."""
KEPT = TREE / ".benchmarks" / "zsim"


def commit_of(tree: Path) -> str:
    """Return the commit of a tree, marked when it holds more than that."""
    told = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()


def in_turn(job: Job, trees: tuple[Path, Path], runs: int) -> tuple[Measurement, Measurement]:
    """Return the best of a few runs of each of two trees, this one and the other in turn."""
    found: tuple[list[Measurement], list[Measurement]] = ([], [])
    for number in range(runs + (job is not first_run)):
        for tree, measured in zip(trees, found, strict=True):
            taken = job(tree)
            if number > 0 or job is first_run:
                measured.append(taken)
    return best(found[0]), best(found[1])


def ratios(here: Measurement, there: Measurement) -> tuple[float, float]:
    """Return how much longer this version takes than the other, and how much more memory."""
    slower = here.cpu_s / there.cpu_s
    if here.rate and there.rate:
        slower = there.rate / here.rate
    return slower, here.memory_bytes / there.memory_bytes


def keep(tree: Path, found: dict[str, Measurement]) -> None:
    """Write down what was measured of a version, beside what was measured of it before."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{commit_of(tree)}.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    text = json.dumps(before | {name: asdict(each) for name, each in found.items()}, indent=1)
    path.write_text(text + "\n")


def main() -> None:
    """Run both in turn, print a table and what got worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path, help="checkout of the other version")
    parser.add_argument("--rows", default="", help="only rows whose name holds this text")
    parser.add_argument("--runs", type=int, default=3, help="runs of each that count")
    asked = parser.parse_args()
    trees = TREE, asked.tree.resolve()
    found: tuple[dict[str, Measurement], dict[str, Measurement]] = ({}, {})
    worse = []
    print("| what | here | there | time, here / there | memory, here / there |\n|---|---|---|---|---|")
    for name in (each for each in JOBS if asked.rows in each):
        here, there = in_turn(JOBS[name], trees, asked.runs)
        found[0][name], found[1][name] = here, there
        slower, larger = ratios(here, there)
        print(f"| {name} | {told(here)} | {told(there)} | {slower:.2f} | {larger:.2f} |", flush=True)
        if max(slower, larger) > WORSE:
            worse.append(f"{name}: {slower:.2f} times the time, {larger:.2f} times the memory")
    for tree, each in zip(trees, found, strict=True):
        keep(tree, each)
    print(
        "\n"
        + ("\n".join(["Worse by more than a tenth:", *worse]) if worse else "Nothing is worse by a tenth.")
    )


def told(found: Measurement) -> str:
    """Return processor time or rate in a few characters."""
    return f"{found.cpu_s:.2f} s" if found.rate is None else f"{found.rate / 1e6:.3g} million/s"


if __name__ == "__main__":
    main()
