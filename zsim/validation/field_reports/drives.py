"""From the words of a report to a drive, by the same rules as imports (`zsim.drives.names`)."""

from __future__ import annotations

from zsim.drives.names import (
    FAST,
    GIGA,
    HALF_SIZES,
    NAMED_BYTES,
    NVME,
    SATA_FLASH,
    SERIES,
    SHINGLED,
    SLOW,
    TERA,
    TOKEN,
    NamedDrive,
    bytes_in_name,
    named_drives,
    series_of,
    slowest,
    tokens,
    written_bytes,
)

__all__ = [
    "FAST",
    "GIGA",
    "HALF_SIZES",
    "NAMED_BYTES",
    "NVME",
    "SATA_FLASH",
    "SERIES",
    "SHINGLED",
    "SLOW",
    "TERA",
    "TOKEN",
    "NamedDrive",
    "bytes_in_name",
    "named_drives",
    "series_of",
    "slowest",
    "tokens",
    "written_bytes",
]
