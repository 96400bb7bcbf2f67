"""Valid scenarios of every kind, drawn at random and the same for the same seed.

``python tests/fuzz/scenarios.py 0 150`` runs those numbers and prints one line each: exit code, CPU time,
memory, scenario; and a summary.
"""

from __future__ import annotations

import math
import os
import random
import resource
import sys
import time
from collections import Counter
from typing import Any

MOST_CPU_S, MOST_MEMORY = 10.0, 300 << 20

HISTORIES = (
    "backup-target", "database", "home-nas", "maildir", "media-server", "small-files", "system-disk",
    "vm-host", "write-once-archive",
)  # fmt: skip
GENERIC = (
    "generic-5400rpm-cmr", "generic-5400rpm-smr", "generic-7200rpm-cmr", "generic-nvme-ssd",
    "generic-sata-ssd",
)  # fmt: skip
NAMED = ("hd103uj", "st4000dm000", "st8000as0002", "wd40efax", "860-evo-1tb", "pm983-960gb", "mg08aca16")
OLD_RELEASES = ("freebsd-9.1", "zol-0.6.5", "zol-0.7.13", "openzfs-0.8.6", "openzfs-2.0")
DRAID_RELEASES = ("openzfs-2.1.5", "openzfs-2.2", "openzfs-2.3", "openzfs-2.4")
RECORDS = ("4K", "16K", "64K", "128K", "1M")
LOADS = (
    "random-read,rate=10,size=64K", "random-read,threads=4,think=5ms", "sequential-read,rate=20,size=1M",
    "sync-write,rate=20,size=16K",
)  # fmt: skip


def scenario(number: int) -> dict[str, Any]:
    """Return a valid scenario as fields; the same number gives the same one."""
    chance = random.Random(number)
    found: dict[str, Any] = {"layout": _layout(chance), "fill": _fill(chance)}
    _drives(chance, found)
    is_draid = found["layout"].startswith("draid")
    if is_draid or chance.random() < 0.6:
        found["release"] = chance.choice(DRAID_RELEASES if is_draid else (*OLD_RELEASES, *DRAID_RELEASES))
    _operation(chance, found)
    if chance.random() < 0.5:
        found["history"] = chance.choice(HISTORIES)
    if chance.random() < 0.3:
        old = found.get("release", "").startswith("freebsd")
        found["recordsize"] = chance.choice(RECORDS[:4] if old else RECORDS)
    if chance.random() < 0.2:
        found["memory"] = chance.choice(("2G", "8G", "64G", "256G"))
    if chance.random() < 0.2:
        found["load"] = [chance.choice(LOADS)]
    return found


def _layout(chance: random.Random) -> str:
    kind = chance.choice(("mirror", "raidz", "draid", "raidz", "mirror"))
    count = chance.choice((1, 1, 1, 2, 3, 6))
    times = f"{count}*" if count > 1 else ""
    if kind == "mirror":
        return f"{times}mirror{chance.randint(2, 4)}"
    if kind == "raidz":
        parity = chance.randint(1, 3)
        return f"{times}raidz{parity}x{chance.randint(parity + 2, 20)}"
    parity, data, spares = chance.randint(1, 3), chance.randint(2, 16), chance.randint(0, 4)
    children = chance.randint(data + parity + spares, min(120, 4 * (data + parity) + spares))
    return f"draid{parity}:{data}d:{children}c:{spares}s"


def _fill(chance: random.Random) -> float:
    if chance.random() < 0.3:
        return round(10.0 ** chance.uniform(-4.0, -1.7), 6)
    return round(chance.uniform(0.02, 0.97), 3)


def _drives(chance: random.Random, found: dict[str, Any]) -> None:
    place = chance.random()
    if place < 0.25:
        found["drive"] = chance.choice(NAMED)
        return
    if place < 0.7:
        found["drive"] = chance.choice(GENERIC)
    least = 30.0 if found["layout"].startswith("draid") else 1.0
    gigabytes = math.exp(chance.uniform(math.log(least), math.log(30_000.0)))
    found["drive_size"] = f"{gigabytes:.3g}GB" if gigabytes < 1000 else f"{gigabytes / 1000:.3g}TB"


def _operation(chance: random.Random, found: dict[str, Any]) -> None:
    place, layout = chance.random(), found["layout"]
    if place < 0.15:
        found["operation"] = "scrub"
    elif place < 0.3 and not layout.partition("*")[2].startswith("raidz") and not layout.startswith("raidz"):
        release = found.get("release", "openzfs-2.3")
        if release in DRAID_RELEASES:
            found["operation"] = "rebuild"
    elif place < 0.6:
        found["operation"] = "resilver"
    if layout.startswith("draid") and found.get("operation") != "scrub" and chance.random() < 0.3:
        found["target"] = "new-drive"


def flags(fields: dict[str, Any]) -> list[str]:
    """Return a scenario as flags of the command line."""
    found = []
    for name, value in fields.items():
        for each in value if isinstance(value, list) else [value]:
            found += [f"--{name.replace('_', '-')}", str(each)]
    return found


def main() -> None:
    """Run scenarios one after the other, each in a child of one warm process, and sum up what they took."""
    from zsim.base.machine.lightly import begin_lightly

    begin_lightly()  # as the command does: memory is given back
    import zsim

    first, last = int(sys.argv[1]), int(sys.argv[2])
    zsim.predict(layout="mirror2", fill=0.3, drive_size="8GB")
    codes: Counter[int] = Counter()
    most_cpu, most_memory, over = 0.0, 0, 0
    for number in range(first, last):
        began = time.perf_counter()
        code, cpu, memory, said = _in_child(scenario(number))
        codes[code] += 1
        most_cpu, most_memory = max(most_cpu, cpu), max(most_memory, memory)
        over += code not in {0, 2} or cpu > MOST_CPU_S or memory > MOST_MEMORY
        sys.stdout.write(
            f"{number:5d} {code:3d} {cpu:6.1f} CPU s {time.perf_counter() - began:6.1f} s {memory >> 20:6d} MB "
            f"{' '.join(flags(scenario(number)))}  {said}\n"
        )
        sys.stdout.flush()
    sys.stdout.write(
        f"{last - first} scenarios: {codes[0]} answered, {codes[2]} refused, {over} above the limits or faults; "
        f"at most {most_cpu:.1f} CPU s and {most_memory >> 20} MB\n"
    )


def _in_child(fields: dict[str, Any]) -> tuple[int, float, int, str]:
    """Predict in a child; return its code, CPU [s], memory [bytes], and the sentence of a refusal."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        code, said = 70, ""
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            code, said = _answer(fields)
        finally:
            os.write(writer, said.encode()[:4000])
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss << 10, said


def _answer(fields: dict[str, Any]) -> tuple[int, str]:
    import zsim
    from zsim.base.errors import ZsimError

    try:
        found = zsim.predict(zsim.Scenario.from_dict(fields)).resilver_s
    except ZsimError as error:
        return error.exit_code, str(error)
    except Exception as error:
        return 70, f"{type(error).__name__}: {error}"
    good = (
        found.p10 is not None and found.p90 is not None and 0 < found.p10 <= found.p50 <= found.p90 < math.inf
    )
    return (0, "") if good else (71, f"absurd: {found}")


if __name__ == "__main__":
    main()
