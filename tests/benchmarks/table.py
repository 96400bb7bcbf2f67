"""Print the table of the README: ``python -m tests.benchmarks.table`` in a clone, on an idle machine."""

from __future__ import annotations

from .measuring import MEASUREMENTS, Measurement

FLAT = "1.5 times raidz2x6, 300 MB"
TARGETS = {
    "help": "0.25 s",
    "predict": "1.0 s, 300 MB",
    "predict, 1 TB": "1.0 s, 300 MB",
    "predict, 50 TB": "1.0 s, 300 MB",
    "predict, 1 PB": "1.0 s, 300 MB",
    "predict, 90 wide": FLAT,
    "predict, draid2:8d:24c": FLAT,
    "predict, draid3:20d:255c": FLAT,
    "predict, 100 vdevs": FLAT,
    "predict, 16M records": FLAT,
    "predict, shingled": FLAT,
    "predict, NVMe": FLAT,
    "predict, one more in a warm process": "0.3 s",
    "predict, the same blocks in a warm process": "0.3 s",
    "a row of a sweep": "0.3 s, 300 MB",
    "first run": "12 s",
    "engine, no caches": "10 million child I/Os/s",
    "engine, write caches": "10 million child I/Os/s",
    "engine, legacy scan": "",
    "engine, solid-state drives": "6 million child I/Os/s",
    "trace, read by columns": "2 million requests/s",
    "exact, 100 GB drives": "300 MB",
    "exact, 1 TB drives": "14 s, 300 MB",
}
PUBLISHED = (
    "DiskSim 4.0 on the same kind of machine, with its own parameters: 5,900 to 6,900 reads of 128K a "
    "second, 41,700 to 98,000 of 4K."
)
"""What other simulators do, beside which SimPy's own rate is measured here."""


def row(name: str, found: Measurement) -> str:
    """Return a line of the table."""
    rate = "" if found.rate is None else f"{found.rate / 1e6:.3g} million/s"
    rate += "" if found.around is None else f", {found.around:.0%} of the time around the kernel"
    memory = f"{found.memory_bytes / 1e6:.0f} MB"
    times = f"{found.wall_s:.2f} s | {found.cpu_s:.2f} s"
    return f"| {name} | {times} | {memory} | {rate} | {TARGETS.get(name, '')} |"


def main() -> None:
    """Measure all and print as Markdown."""
    print("| what | wall | processor | memory | rate | target |\n|---|---|---|---|---|---|")
    for name, measure in MEASUREMENTS.items():
        print(row(name, measure()), flush=True)
    print(f"\n{PUBLISHED}")


if __name__ == "__main__":
    main()
