"""The kernel's log (``dmesg``, ``/var/log/messages``): links reset or slowed down, reads that failed.

Words of Linux: drivers/ata/libata-eh.c (``hard resetting link``, ``limiting SATA link speed to 1.5 Gbps``),
block/blk-core.c (``I/O error, dev sda, sector``); of FreeBSD: cam (``(ada3:ahcich3:0:0:0): CAM status``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from zsim.observe.outputs import Remark
from zsim.observe.texts import plain

TELLS = "the kernel log shows "
"""How the remark begins, which is a reason of a slow scan."""
MOST_TOLD = 4
_RESET = re.compile(r"\b(ata\d{1,3}(?:\.\d{2})?): (?:hard|soft) resetting link\b", re.ASCII)
_LINK = re.compile(r"\b(ata\d{1,3}(?:\.\d{2})?): limiting SATA link speed to (\d{1,2}\.\d) Gbps", re.ASCII)
_FAILED = re.compile(
    r"\b(?:I/O|critical (?:medium|target)) error, dev ([a-z]{2,4}[a-z0-9]{0,8}), sector", re.ASCII
)
_CAM = re.compile(
    r"\(((?:ada|da|nda)\d{1,4}):[\w:]{3,40}\): CAM status: "
    r"(?:ATA Status Error|Uncorrectable|Command timeout|SCSI Status Error)",
    re.ASCII,
)


def recognises(text: str) -> bool:
    """Tell whether a text holds lines of a kernel's log about drives."""
    return bool(_told(text))


def read(text: str, name: str) -> tuple[Remark, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    told = _told(text)
    if not told:
        return ()
    look = "a scan waits for each: look at these drives, their cables and ports"
    return (
        Remark(
            f"{TELLS}{'; '.join(told)}: {look} (ls -l /sys/block shows which drive is behind an ata port)"
        ),
    )


def _told(text: str) -> list[str]:
    resets = _counted(_RESET.findall(text), "reset of the link", "resets of the link")
    failed = _counted([*_FAILED.findall(text), *_CAM.findall(text)], "failed request", "failed requests")
    speeds = {port.partition(".")[0]: speed for port, speed in _LINK.findall(text)}
    slow = [f"the link of {port} limited to {speed} Gb/s" for port, speed in speeds.items()]
    return [plain(each, 200) for each in (*resets, *slow, *failed)][:MOST_TOLD]


def _counted(names: Iterable[str], one: str, many: str) -> list[str]:
    counts = Counter(name.partition(".")[0] for name in names)
    return [
        f"{count} {one if count == 1 else many} of {name}" for name, count in counts.most_common(MOST_TOLD)
    ]
