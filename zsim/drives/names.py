"""From a model name to what it says of the drive: series, capacity and recording.

The catalogue knows some hundred drives; of all others the name tells the capacity and the series, and the
series whether it is a disk of 5400 or 7200 rpm, shingled, or flash.  Names follow the vendors' own schemes
(product manuals); which disks are shingled say the lists that WD, Toshiba and Seagate published in April 2020
(Tom's Hardware, 2020-04-29, for Toshiba's) and the data sheets of later ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SLOW, FAST, SHINGLED = "generic-5400rpm-cmr", "generic-7200rpm-cmr", "generic-5400rpm-smr"
SATA_FLASH, NVME = "generic-sata-ssd", "generic-nvme-ssd"
GIGA, TERA = 1e9, 1e12

SERIES: tuple[tuple[str, str], ...] = (
    # Flash first: "WDS100T2B0A" begins like a disk, "Black SN850" like a series of disks.
    (r"\bNVMe\b|\bM\.2 PCIe|\bOptane|\b9[0-9]0 (?:EVO|PRO)|\b980\b|\b990\b|\bSN\d{3}", NVME),
    (r"\bMTFDH\w+", NVME),
    (
        r"\bPM9[0-9A]\w+|\bPM1[67]\d\w+|\bSSDP[EF]\w+|\bMZV\w+"
        r"|\bMZ(?:QL|WL|1L|PL)\w+|\bP[3-5][56]\d\d\b",
        NVME,
    ),
    (
        r"\bCT\d+P\d\w*|\bCrucial [PT]\d\b|\bWDS\d+[GT]\d[XC]\w+"
        r"|\bS?KC[23]\d{3}|\bSA2000|\bFireCuda 5\d\d",
        NVME,
    ),
    (r"\b(?:Micron )?(?:7300|7400|7450|9300|9400)\b|\bMTFDK\w+|\bDC P\d{4}", NVME),
    (
        r"\b8[3-8]\d (?:EVO|QVO|PRO|DCT)|\bCT\d+\w*SSD\d"
        r"|\b[BM]X\d{3}\b|\bSSDS[AC]\w+|\bMTFDD\w+|\bMZ-?7\w+",
        SATA_FLASH,
    ),
    (
        r"\bWDBNCE\w+|\b(?:PM8|SM8)\d\w+|\bDC S\d{4}|\bS3[57]\d0\b"
        r"|\bS4[56]\d0\b|\bWDS\d+[GT]\d\w+|\bSDSS\w+",
        SATA_FLASH,
    ),
    (
        r"\bSA[45]00|\bS[AUV]\d{3}S3\w*|\bDC[45]\d\d[MR]"
        r"|\bSEDC\w+|\bSSD\b|\bOCZ|\bVertex|\bX25-[EM]\b",
        SATA_FLASH,
    ),
    # Shingled disks: the vendors' lists.
    (
        r"\bWD[2346]0EFAX|\bWD[26]0EZAZ|\bWD[348]0EZAX"
        r"|\bWD[1-4]\dSP[SZ]X|\bWD[1-5]\dNM[VZ]W|\bWD[45]0NDZ\w",
        SHINGLED,
    ),
    (r"\bST(?:2000DM00[58]|3000DM007|4000DM004|5000DM000|6000DM003|8000DM004)", SHINGLED),
    (r"\bST\d{4}A[SL]\d{4}|\bST\d{3,4}LM(?:007|015|024|030|035|048|049|000)\b", SHINGLED),
    (
        r"\bDT02[AV]BA\w+|\bHDWD2[46]0|\bHDW[LJ]1[12]\w+"
        r"|\bMQ04\w+|\bArchive HDD|\bBarraCuda Compute",
        SHINGLED,
    ),
    # Disks of 5400 to 5900 rpm; the Blue of 1 TB and Purple Pro are the exceptions of their series.
    (r"\bWD\d{4}F[A-Z]?9YZ", FAST),
    (r"\bWD\d{2}EZEX|\bWD\d{3}0Y[SRD]\b|\bWD\d{3,4}PURP|\bPurple Pro\b", FAST),
    (
        r"\bWD\d{2,3}E[ADFMZ]\w{2}|\bWD\d{2,3}P[UV]\w{2}"
        r"|\bWD\d{2}A[AV]\w{2}|\bWD\d{4}A[VU]\w{2}",
        SLOW,
    ),
    (
        r"\bST[1-46]000VN\w+|\bST4000(?:DM00[05]|VX\d+)|\bST\d{3,4}0DL\d|\bST3\d+CS\b"
        r"|\bST[1-8]000V[MX]\w+|\bST[1-4]000CL\w+|\bST\d+LM\w+|\bST9\d{6}AS",
        SLOW,
    ),
    (
        r"\bHD\d{3}[USW][IJ]\b(?<!UJ)(?<!SJ)|\bHMS5C\w+|\bHDS5C\w+"
        r"|\bHT[SE]54\w+|\bMQ01\w+|\bMD0[46]A\w+V\b|\bHDWU\w+|\bWD\d{2,4}[BJL]P[CV]\w",
        SLOW,
    ),
    (r"\b(?:Green|EcoGreen|Purple|AV-GP|Red Plus|CoolSpin|Blue Slim|Slim|Momentus)\b", SLOW),
    # Disks of 7200 rpm and more.
    (
        r"\bWD\d{4}[A-Z]{4}|\bWD\d{2,3}[KFVHYBL][A-Z]{3}"
        r"|\bST\d+(?:NM|NE|NT|VE|DX|SS|NS|AS|A|MM|MP|FC)\w*",
        FAST,
    ),
    (
        r"\bST\d+(?:DM|VN)\w+|\bH[DUW][NSHTACP]\d\w+|\bWUH\w+"
        r"|\bHUA\w+|\bHT[SE]72\w+|\bM[BM]\d{4}[A-Z]{4,6}\b|\bM[GNDK]\d\d\w+|\bDT0[12]\w+|\bHDW\w+",
        FAST,
    ),
    (
        r"\bHD\d{3}[A-Z]{2}\b|\bRed Pro|\bGold\b|\bBlack\b"
        r"|\bUltrastar|\bExos|\bConstellation|\bIronWolf Pro",
        FAST,
    ),
    (
        r"\bDeskstar|\bN300|\bX300|\bP300|\bCheetah|\bSavvio"
        r"|\bRE[34]\b|\bBarracuda 7200|\bSpinpoint F[13]",
        FAST,
    ),
    (r"\bRed\b", SLOW),
)  # fmt: skip
"""Names of models and series, and the generic drive that stands for each; the first that fits counts.

Plain WD Red is of 5400 rpm; which of them are shingled tells the model's name alone.  IronWolf and Barracuda
without a model may be of either speed and are not in the list."""

TOKEN = re.compile(r"[A-Za-z]{1,6}-?\d[A-Za-z0-9]{3,}")
NAMED_BYTES: tuple[tuple[str, float], ...] = (
    (r"\bST3(\d{2,4})\d{3}(?:AS|NS|A|SV|SS|NC|SC|SCE|AV|FC|CS)\b", GIGA),
    (r"\bST9(\d{2,4})\d{3}(?:AS|NS|SS|LX)\b", GIGA),
    (r"\bST(\d{2,5})[A-Z]{2}\w", GIGA),
    (r"\bWDS(\d{3})G\d", GIGA),
    (r"\bWDS(\d)00T\d", TERA),
    (r"\bWDBNCE00(\d\d)P", TERA / 10),
    (r"\bWDBNCE([1-9]\d\d)0P", GIGA),
    (r"\bWD(\d)\d{3}F(?:[A-Z]{3}|[A-Z]?9YZ)", TERA),
    (r"\bWD(\d{3})\d[A-EG-Z][A-Z]{3}", GIGA),
    (r"\bWD(\d{3})\dY[SRD]\b", GIGA),
    (r"\bWD(\d{2})\d[A-Z]{4}", TERA),
    (r"\bWD(\d[05])[A-Z]{3,4}", TERA / 10),
    (r"\bWD(\d)\d[A-Z]{3,4}", TERA),
    (r"\bHU[HW]7[25](?:10|12|14|18|22)(\d\d)[A-Z]", TERA),
    (r"\bWUH72\d\d(\d\d)[A-Z]", TERA),
    (r"\bHUS72\dT(\d)T", TERA),
    (r"\bH[DUMT][ENSHA]7?\w{0,2}(?:72|5C|54)\d\d(\d\d)(?=[A-Z])", TERA / 10),
    (r"\bM[BM](\d{4})[A-Z]{4,6}\b", GIGA),
    (r"\bM[GND]\d\dAC[APD](\d\d)[A-Z]", TERA),
    (r"\b(?:M[GNDQ]|DT)\d\d[AV][BC][A-Z](\d)\d\dV?[A-Z]?", TERA),
    (r"\bHDW[A-Z]\d([1-9])\d", TERA),
    (r"\bCT(\d{3,4})\w", GIGA),
    (r"\bSSD(?:S[AC]|P[EF])\w{2,4}?(\d{3})[AGH]", GIGA),
    (r"\bMTFD\w{3,4}?(\d{3})T[A-Z]", GIGA),
)  # fmt: skip
"""Where the names of drives have the capacity, and its unit [bytes]."""
HALF_SIZES = {50: 0.5, 32: 0.32, 25: 0.25, 16: 0.16, 75: 0.75, 12: 0.12, 64: 0.64}
SAMSUNG = re.compile(r"\bHD(\d\d)\d[A-Z]{2}\b")
TOSHIBA = re.compile(r"\bHDW[A-Z]\d\d([ACEGJL])")
TOSHIBA_TB = {"A": 10, "C": 12, "E": 14, "G": 16, "J": 18, "L": 20}
INTEL = re.compile(r"\bSSD(?:SC|P[EF])\w{2,4}?(\d{3})T[\dZ]")
INTEL_TB = {19: 1.92, 38: 3.84, 76: 7.68, 153: 15.36, 307: 30.72}
"""Of tenths of a terabyte: SSDSC2KB019T8 has 1.92 TB, SSDPE2KX010T8 one."""
HITACHI_HALF = re.compile(r"\b(?:HD[ST]72|HT[SE](?:72|54))\d\d(50|32|25|16|75|12|64)[A-Z]")
WRITTEN_OUT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?(TB|GB)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedDrive:
    """What the name of a drive tells.

    Attributes
    ----------
    generic : str or None
        The generic drive of its series; None where no series is known.
    capacity : int or None
        [bytes]
    """

    generic: str | None
    capacity: int | None


def series_of(text: str) -> str | None:
    """Return the generic drive of the first series that a text names; None where it names none."""
    found = series_in(text)
    return None if found is None else found[0]


def series_in(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the generic drive of the first series that a text names, and where the name stands in it."""
    for words, generic in SERIES:
        if (match := re.search(words, text, re.IGNORECASE)) is not None:
            return generic, match.span()
    return None


def tokens(text: str) -> Iterator[str]:
    """Yield the words of a text that may be the name of a model."""
    yield from (match[0] for match in TOKEN.finditer(text))


def named_drives(text: str) -> tuple[NamedDrive, ...]:
    """Return the drives whose model names a text has, in their order; the series alone where it has none."""
    found = [NamedDrive(series_of(token), bytes_in_name(token)) for token in tokens(text)]
    known = tuple(drive for drive in found if drive.generic is not None)
    series = series_of(text)
    return known or (() if series is None else (NamedDrive(series, bytes_in_name(text)),))


def slowest(drives: tuple[NamedDrive, ...]) -> str | None:
    """Return the slowest of several series: a stripe, and a mirror that is copied, wait for it."""
    order = (SHINGLED, SLOW, FAST, SATA_FLASH, NVME)
    kinds = {drive.generic for drive in drives}
    return next((generic for generic in order if generic in kinds), None)


def bytes_in_name(text: str) -> int | None:
    """Return the capacity that a drive's name holds [bytes]; None where it holds none."""
    if intel := INTEL.search(text):
        return round(INTEL_TB.get(int(intel[1]), int(intel[1]) / 10) * TERA)
    for pattern, table in ((HITACHI_HALF, HALF_SIZES), (SAMSUNG, None), (TOSHIBA, None)):
        match = pattern.search(text)
        if match and table is not None:
            return round(table[int(match[1])] * TERA)
        if match and pattern is TOSHIBA:
            return round(TOSHIBA_TB[match[1]] * TERA)
        if match:
            digits = int(match[1])
            return round(digits * (TERA / 10 if digits <= 20 else GIGA * 10))
    for words, unit in NAMED_BYTES:
        match = re.search(words, text)
        if match and int(match[1]) > 0:
            return round(int(match[1]) * unit)
    return None


def written_bytes(text: str) -> int | None:
    """Return the capacity that a text writes out, as in "WD Red 4 TB" [bytes]; None where it does not."""
    match = WRITTEN_OUT.search(text)
    if match is None:
        return None
    size = float(match[1]) * (TERA if match[2].upper() == "TB" else GIGA)
    return round(size) if 1e9 <= size <= 1e15 else None
