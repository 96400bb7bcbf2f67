"""Hostile input by the thousand: ``python -m tests.fuzz.hostile --seed 7 --count 20000``.

Prints one line for each complaint and a summary; exit code 1 if there is any.  ``--show N`` runs one number and
prints all about it.
"""

from __future__ import annotations

import argparse
import collections
import math
import os
import re
import resource
import sys
import time

from tests.fuzz import running
from tests.fuzz.running import Outcome, complaints, run, warm
from tests.fuzz.surfaces import Trial
from tests.fuzz.trials import surface_of, trial

LOOP_S = 0.025
"""CPU time of the loop of `slowness` on the machine that the limits were set on [s]."""

TRIES = 4


def place(one: Trial) -> str:
    """Return the innermost place of the project in the traceback of a trial, by running it again."""
    os.environ["ZSIM_DEBUG"] = "1"
    err = run(one).err.decode("utf-8", "replace")
    del os.environ["ZSIM_DEBUG"]
    places = re.findall(r'File ".*?/(zsim/[^"]*)", line (\d+), in (\S+)', err)
    return ":".join(places[-1]) + " " + err.strip().splitlines()[-1][:160] if places else err[-200:]


def judged(one: Trial) -> tuple[Outcome, list[str]]:
    """Run a trial; a limit of time counts if it is exceeded every time, as other programs may slow a run."""
    for _ in range(TRIES):
        got = run(one)
        wrong = complaints(one, got)
        if not any(each.startswith(("CPU", "hangs")) for each in wrong):
            break
    return got, wrong


def slowness() -> float:
    """Return how many times as long a loop takes as on the machine that the limits were set on, 1 at least."""
    least = math.inf
    for _ in range(5):
        began, count = time.process_time(), 0
        for number in range(400_000):
            count += number % 7
        least = min(least, time.process_time() - began)
    return max(1.0, least / LOOP_S)


def told(number: int, one: Trial, got: Outcome, wrong: list[str]) -> str:
    """Return a line about a trial."""
    words = " ".join(repr(word) if len(word) < 60 else repr(word[:50]) + "..." for word in one.words)
    where = f" at {place(one)}" if "traceback" in wrong else ""
    said = got.err.decode("utf-8", "replace").strip()[-150:]
    return f"{number} {one.surface}{' whole' if one.whole else ''}: {'; '.join(wrong)}{where} | {words} | {said!r}"


def main() -> int:
    """Run as many as asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", type=int)
    parser.add_argument("--only", action="append", help="of these surfaces alone; may be repeated")
    parser.add_argument("--patience", type=float, default=1.0, help="a hang is so many times as long")
    given = parser.parse_args()
    running.MOST_WALL_S *= given.patience
    running.MOST_CPU_S *= slowness()
    warm()
    # What is run in this process is limited as the children are: an input that takes all memory ended a campaign.
    resource.setrlimit(resource.RLIMIT_AS, (running.ADDRESS_SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    if given.show is not None:
        one = trial(given.seed, given.show)
        sys.stdout.write(f"{one}\n"[:20_000])
        got = run(one)
        sys.stdout.write(f"{got}\n{complaints(one, got)}\n{place(one)}\n")
        return 0
    began, kinds, surfaces, codes = (
        time.perf_counter(),
        collections.Counter(),
        collections.Counter(),
        collections.Counter(),
    )
    cpu: collections.Counter[str] = collections.Counter()
    tried = 0
    for number in range(given.first, given.first + given.count):
        if given.only and surface_of(number) not in given.only:
            continue
        tried += 1
        one = trial(given.seed, number)
        got, wrong = judged(one)
        if number % 1000 == 999:
            sys.stderr.write(
                f"{number + 1 - given.first} of {given.count}, {time.perf_counter() - began:.0f} s\n"
            )
        codes[got.code] += 1
        cpu[one.surface + (" whole" if one.whole else "")] += got.cpu
        if wrong:
            kinds[re.sub(r"[\d.]+", "N", wrong[0])] += 1
            surfaces[one.surface] += 1
            sys.stdout.write(
                told(number, one, got, wrong).encode("utf-8", "backslashreplace").decode() + "\n"
            )
            sys.stdout.flush()
    seconds = time.perf_counter() - began
    sys.stdout.write(
        f"seed {given.seed}: {tried} inputs, {sum(kinds.values())} complaints, {seconds:.0f} s, {sum(cpu.values()):.0f} CPU s; "
        f"exit codes {dict(codes)}; {dict(kinds)}; {dict(surfaces)}\n"
        f"CPU s: { {name: round(value) for name, value in cpu.most_common()} }\n"
    )
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
