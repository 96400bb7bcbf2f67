"""Device names in a pool, and the model and serial number that they contain.

udev's names (``/dev/disk/by-id``) hold both where the drive tells them; FreeBSD's ``diskid/DISK-`` holds the
serial number alone, ``wwn-`` and Solaris' ``c0t5000CCA...d0`` a number whose first digits are the vendor's,
and ``gptid/`` and labels given by hand mostly nothing (udev 60-persistent-storage.rules; FreeBSD geom(4)).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_NAME = 300
_PART = re.compile(
    r"(?:-part\d{1,3}|(?<=\d)p\d{1,3}|(?<=[a-z])\d{1,2}|s\d{1,2}[a-h]?|\.eli|-crypt)$", re.ASCII
)
_BUS = re.compile(r"(ata|scsi|nvme|usb|sas|dm-name|dm-uuid)-(.{3,})", re.ASCII)
_TRANSLATED = re.compile(r"^(?:S?ATA[_ ]+|S(?=SEAGATE|TOSHIBA|HGST|WDC|HITACHI))")
_WORLD_WIDE = re.compile(r"(?:wwn-0x|scsi-3|nvme-eui\.|c\d{1,3}t)([0-9A-Fa-f]{16,32})", re.ASCII)
_MULTIPATH = re.compile(r"(?:dm-uuid-)?(?:mpath-)?3([56][0-9a-f]{15}(?:[0-9a-f]{16})?)1?", re.ASCII)
"""Of dm-multipath: the digit of the kind of number and the number; zpool leaves the 1 of some partitions."""
_NUMBERED = re.compile(
    r"(?:sd[a-z]{1,3}|hd[a-z]|vd[a-z]|da\d+|ada\d+|ad\d+|nvme\d+n\d+|nvd\d+|nda\d+|mfid\d+|disk\d+)"
)
_DISK = re.compile(r"(?:diskid/)?DISK-(.{4,60})")
_MAPPED = re.compile(r"^(?:luks|crypt|enc|dm-name|dm[-_]crypt)[-_]|[-_](?:luks|crypt|enc)$")
"""What people and installers put around the name of the device behind an encrypted one: nvme0n1p3_crypt."""

_INTEL_SERIAL = re.compile(r"[A-Z]{4}[0-9A-Z]{8}(\d{3}|\dP\d)[A-Z]GN", re.ASCII)
"""Of Intel's SATA solid-state drives: BTWL318000ED480QGN has 480 GB, PHYF102500VU1P9DGN 1.9 TB."""

VENDORS = {
    "5000c50": "Seagate", "50014ee": "WD", "5000cca": "HGST or WD Ultrastar", "5000039": "Toshiba",
    "5002538": "Samsung", "55cd2e4": "Intel", "500a075": "Micron or Crucial", "50026b7": "Kingston",
    "5001b44": "SanDisk or WD",
}  # fmt: skip
"""First digits of World Wide Names, the IEEE's numbers of the vendors (standards-oui.ieee.org)."""
FLASH_VENDORS = ("Samsung", "Intel", "Micron or Crucial", "Kingston", "SanDisk or WD")
"""Of these, those whose solid-state drives alone have such names; Samsung's disks had 50000f0 and 50024e9."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a name of a drive tells.

    Attributes
    ----------
    device : str
        Name without directory and partition: sda, ada5, ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0123456.
    model, serial, vendor : str
        Empty where the name tells none.
    wide : str
        Its World Wide Name or EUI, digits alone in small letters; empty where it has none.
    """

    device: str
    model: str = ""
    serial: str = ""
    vendor: str = ""
    wide: str = ""


def device_of(name: str) -> str:
    """Return the name of the whole drive: no directory of /dev, no partition."""
    name = name.strip()[:MAX_NAME]
    last = name.rsplit("/", 1)[-1]
    inner = _MAPPED.sub("", last)
    if inner != last and (_NUMBERED.fullmatch(_PART.sub("", inner)) or _NUMBERED.fullmatch(inner)
                          or inner.startswith(("ata-", "scsi-", "nvme-", "wwn-"))):  # fmt: skip
        last = inner
    for _ in range(2):
        cut = _PART.sub("", last)
        # A partition is cut from a device's own name or from udev's, never from a serial number's end.
        if cut == last or not (last.endswith((cut + ".eli", cut + "-crypt")) or "-part" in last[len(cut) :]
                               or _NUMBERED.fullmatch(cut)):  # fmt: skip
            break
        last = cut
    return last


def label_of(name: str) -> Label:
    """Return what the name of a drive tells, as zpool prints it or as it stands in /dev."""
    device = device_of(name)
    if disk := _DISK.search(name[:MAX_NAME]):
        serial = _without_part(disk[1])
        return Label(device, _intel(serial), serial)
    if wide := _WORLD_WIDE.match(device) or _MULTIPATH.fullmatch(device):
        digits = wide[1].lower()
        vendor = next((vendor for start, vendor in VENDORS.items() if digits.startswith(start)), "")
        return Label(device, vendor=vendor, wide=digits)
    if bus := _BUS.fullmatch(device):
        return _persistent(device, bus[2])
    return Label(device)


def wide_digits(text: str) -> str:
    """Return the digits of a World Wide Name or EUI, however a tool prints it; nothing for other text."""
    digits = re.sub(r"0x|eui\.|naa\.|[ \t:-]", "", text.strip()[:60]).lower()
    return digits if re.fullmatch(r"[0-9a-f]{16}(?:[0-9a-f]{16})?", digits) else ""


def _intel(serial: str) -> str:
    """Return what a serial number of Intel tells of a solid-state drive, as a model; nothing of others."""
    told = _INTEL_SERIAL.fullmatch(serial)
    if told is None:
        return ""
    size = f"{told[1].replace('P', '.')} TB" if "P" in told[1] else f"{int(told[1])} GB"
    return f"INTEL SSD {size}"


def _without_part(serial: str) -> str:
    return re.sub(r"(?:p\d{1,2}|s\d{1,2})$", "", serial, flags=re.ASCII)


def _persistent(device: str, text: str) -> Label:
    """Return model and serial number of udev's name: words joined by ``_``, the serial last."""
    body = _TRANSLATED.sub("", text)
    model, _, serial = body.rpartition("_")
    if re.fullmatch(r"\d{1,2}", serial) and "_" in model:
        # nvme-MODEL_SERIAL_1: the namespace stands last.
        model, _, serial = model.rpartition("_")
    if not model:
        return Label(device, model=body.replace("_", " ").strip())
    return Label(device, " ".join(model.replace("_", " ").split()), serial)
