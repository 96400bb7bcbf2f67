"""Write a drive model as a file of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.items import InlineTable, Table

from zsim.base.files import replace_file
from zsim.drives.models.model import DriveModel, DriveQuantity


def drive_text(drive: DriveModel) -> str:
    """Return a drive as TOML that `zsim.drives.catalogue.load_drive` reads back."""
    document = tomlkit.document()
    head: dict[str, object] = {
        "vendor": drive.vendor,
        "model": drive.model,
        "class": drive.drive_class,
        "aliases": list(drive.aliases),
        "kind": drive.kind,
        "recording": drive.recording,
        "queue_policy": drive.queue_policy,
        "note": drive.note,
    }
    for key, value in head.items():
        document.add(key, tomlkit.item(value))
    document.add("parameters", _table(drive.quantities))
    document.add("spread", _table(drive.drive_to_drive))
    if drive.observed:
        document.add("observed", _table(drive.observed))
    return tomlkit.dumps(document)


def save_drive(drive: DriveModel, path: str | Path) -> None:
    """Write a drive model; see `zsim.base.files.replace_file` for the errors."""
    replace_file(path, drive_text(drive).encode())


def _table(quantities: Mapping[str, DriveQuantity]) -> Table:
    table = tomlkit.table()
    for key, quantity in quantities.items():
        table.add(key, _entry(quantity))
    return table


def _entry(quantity: DriveQuantity) -> InlineTable:
    entry = tomlkit.inline_table()
    entry.update(
        {"value": quantity.value, "unit": quantity.unit, "kind": quantity.kind, "source": quantity.source}
    )
    if quantity.uncertainty:
        entry.update({"uncertainty": quantity.uncertainty})
    if quantity.note:
        entry.update({"note": quantity.note})
    return entry
