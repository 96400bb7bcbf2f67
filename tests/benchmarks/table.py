"""Print the table of the README: ``python -m tests.benchmarks.table`` in a clone, on an idle machine."""

from __future__ import annotations

from .measuring import MEASUREMENTS, Measurement

TARGETS = {
    "help": "0.25 s",
    "predict, 1 TB": "1.5 s, 300 MB",
    "predict, 50 TB": "1.5 s, 300 MB",
    "predict, 1 PB": "1.5 s, 300 MB",
    "first run": "20 s",
    "engine, no caches": "5 million child I/Os/s",
    "engine, write caches": "5 million child I/Os/s",
    "engine, legacy scan": "5 million child I/Os/s",
    "engine, solid-state drives": "",
    "reference engine (SimPy)": "",
    "population": "",
    "exact, 100 GB drives": "300 MB",
}


def row(name: str, found: Measurement) -> str:
    """Return a line of the table."""
    rate = "" if found.rate is None else f"{found.rate / 1e6:.3g} million/s"
    memory = f"{found.memory_bytes / 1e6:.0f} MB"
    return f"| {name} | {found.wall_s:.2f} s | {found.cpu_s:.2f} s | {memory} | {rate} | {TARGETS[name]} |"


def main() -> None:
    """Measure all and print as Markdown."""
    print("| what | wall | processor | memory | rate | target |\n|---|---|---|---|---|---|")
    for name, measure in MEASUREMENTS.items():
        print(row(name, measure()), flush=True)


if __name__ == "__main__":
    main()
