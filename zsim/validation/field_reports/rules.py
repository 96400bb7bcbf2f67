"""From a reported resilver, scrub or rebuild to a scenario: the same rules for every row.

A row (columns as in the README of the observed rows) states less than a scenario can.  What it states is
taken; what it does not is left to the distributions of `zsim.prediction`, save for the rules below.  No
duration and no rate of a row is looked at.

layout
    Words in brackets are left out; "(to 3-way)" and "grown to 3-way" make the mirror one wider; ``draid*`` is
    draid2 (the row says that parity does not matter); no width or no layout: refused.
numbers
    With a unit where they are text (`zsim.validation.field_reports.clean`); one that cannot be: refused.
vdevs
    ``n_vdevs``; where it is not known 1, or as many as hold the data at 80 %.
    Special, log, cache and spare vdevs are left out.
    Top-level vdevs of drives of different capacity, each named (``mirror-1: ... (2 TB)``): ZFS fills them in
    proportion, so a scrub lasts as long as that of the largest, which is simulated alone.
operation
    ``kind``; sequential is a rebuild; a resilver after a short absence (the row speaks of a dirty time log):
    refused.
replace
    ``replaced_drives``, 1 where it is not known; more than the redundancy allows: the old drives are online.
alloc
    Of a resilver: ``resilvered_bytes`` per new drive, times drives and vdevs (parity is in it); else
    ``alloc_bytes``; else ``zfs USED`` of the notes with parity; else ``fill_fraction``; a rebuild of dRAID
    without any: full.
drive
    The first model named that the catalogue has in that capacity (one that is marked as the target goes to
    ``new_drive``); else a generic drive by recording, kind and the spindle speed of the series
    (`zsim.validation.field_reports.drives`), of several models the slowest; a hard disk of no known series
    is not stated.
drive_size
    ``drive_bytes``; where the pool's size is that of clearly smaller drives, those are the old ones and
    ``drive_bytes`` the new one's; else the smallest usual capacity that gives the pool's size, or that the
    data fills to 80 % at most.
release
    The version named (a 0.6 by its date); else by platform, order of the scan, and date.  dRAID: openzfs-2.1
    at least.
order
    Legacy, where the release would sort.
load
    heavy: 20 random I/Os a second and drive; light: 1; none: none; unknown: not stated.
history, write_cache, ashift
    By the words of the row: see `zsim.validation.field_reports.hints`.
tunables
    ``name=value`` or ``name value``, the last of each name, where the release has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.base.model_data import DEFAULT_DRIVE
from zsim.base.units import parse_bytes
from zsim.drives.catalogue import load_drive, sized
from zsim.drives.models.model import DriveModel
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.capacity import pool_size
from zsim.scenario.releases.profile import load_release
from zsim.validation.field_reports.clean import clean
from zsim.validation.field_reports.drives import (
    FAST,
    SHINGLED,
    SLOW,
    bytes_in_name,
    named_drives,
    series_of,
    slowest,
    written_bytes,
)
from zsim.validation.field_reports.hints import (
    ashift_of,
    load_of,
    load_words,
    text_of,
    use_of,
    write_cache_of,
)
from zsim.validation.field_reports.layout_words import layout_text
from zsim.validation.field_reports.layouts import layouts_of
from zsim.validation.field_reports.vdev_drives import CLEARLY_LARGER, shares_of_data, vdev_drives
from zsim.vdevs.kind import kind_of

Row = Mapping[str, Any]

USUAL_BYTES = tuple(
    int(size * 1e12)
    for size in (
        0.08, 0.12, 0.16, 0.25, 0.32, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
    )
)  # fmt: skip
REBUILDS = ("draid_rebuild", "sequential_rebuild", "rebuild", "mirror_rebuild")
COMFORTABLE_FILL = 0.8
FULL = 0.98
MODEL = re.compile(r"[A-Za-z]{1,4}\d[A-Za-z0-9]{4,}|\b\d{3} (?:EVO|QVO|PRO)\b")
FAST_SPINDLE_RPM = 6500
SLOW_REVOLUTION_S = 60.0 / FAST_SPINDLE_RPM
FLASH_BYTES = tuple(int(size * 1e9) for size in (120, 128, 240, 250, 256, 480, 512))
FLASH_SINCE = "2018"
"""Unknown drives of a capacity that, from this year on, hardly any but solid-state drives had."""
TARGET = re.compile(
    r"(?P<before>[\w-]+) \([^()]*\b(?:target|new one)\b[^()]*\)"
    r"|(?:\btarget:? |\breplaced (?:by|with) |\breplacement:? |\bnew(?: drive| disk)?: |-> )"
    r"(?P<after>[^;,)]*)"
)
USED = re.compile(r"\bzfs USED ([\d.]+[GT])\b")
VERSION = re.compile(r"(?<![\d.])(0\.[678]|2\.\d)(?!\d)(\.\d+)*")
NEWEST = "2.4"
BRANCH = re.compile(r"branch before (2\.\d)")
SETTING = re.compile(r"\b(zfs_\w+)\s*=?\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules make of a row.

    Attributes
    ----------
    fields : dict
        Of the scenario.
    category : str
        The class the row is scored in: SMR, SSD, loaded, legacy, sorted, rebuild or unknown.
    bytes_per_drive : float or None
        Of the rule of thumb [bytes]; None where the row does not tell.
    average_rate : float or None
        Of the drive that the rules give, over its whole surface [bytes/s].
    fastest_rate : float or None
        Of its outermost tracks, at the upper end of what is known of its class [bytes/s].
    """

    fields: dict[str, Any]
    category: str
    bytes_per_drive: float | None
    average_rate: float | None
    fastest_rate: float | None

    @property
    def stated(self) -> bool:
        """Whether the row states drive (model, or class and capacity), layout and data."""
        drive = "drive" in self.fields and not (
            load_drive(self.fields["drive"]).is_generic and "drive_size" not in self.fields
        )
        return drive and not {"alloc", "fill"}.isdisjoint(self.fields)


def reading_of(row: Row) -> Reading:
    """Return the scenario of a row.

    Parameters
    ----------
    row : Mapping
        One line of the observed rows.

    Raises
    ------
    InputError
        When the row does not state what no rule can supply.
    """
    row = clean(row)
    operation = operation_of(row)
    layout = layout_of(row)
    if operation != "scrub" and layout.vdevs[0].is_disk:
        # What resilvers beside a single drive is the other side of the mirror it becomes.
        layout = Layout((VdevSpec.mirror(2), *layout.vdevs[1:]))
    release = release_of(row)
    kind = kind_of(layout.vdevs[0].kind)
    if operation == "rebuild" and not kind.is_rebuildable:
        # People call any resilver a rebuild.
        operation = "resilver"
    if not kind.is_known_to(load_release(release)):
        release = kind.since
    data = space_of(row, layout, operation)
    if row.get("n_vdevs") is None and len(layout.vdevs) == 1 and "alloc" in data:
        layout = layout.repeated(vdevs_that_hold(row, layout, release, data["alloc"]))
    fields: dict[str, Any] = {"layout": str(layout), "operation": operation, "release": release}
    largest = largest_vdev(row, layout) if operation == "scrub" and "alloc" in data else None
    size: int | None
    if largest is not None:
        layout, size, share = largest
        data = {"alloc": round(data["alloc"] * share)}
        fields["layout"] = str(layout)
    else:
        size = drive_bytes_of(row, layout, release, data)
    fields |= data | drives_of(row, size) | surroundings_of(row, layout, release, data.get("alloc"))
    if operation != "scrub":
        fields |= replacement_of(row, layout)
    if layout.vdevs[0].spares and operation != "scrub":
        fields = {key: value for key, value in fields.items() if not key.startswith("new_drive")}
        fields["target"] = "distributed-spare"
    per_drive = bytes_per_drive(row, layout, data, size)
    return Reading(fields, category_of(row), per_drive, *rates_of(fields))


def readings_of(row: Row) -> tuple[Reading, ...]:
    """Return the scenarios of a row: several, where it states no layout or no width."""
    layouts = layouts_of(row)
    return tuple(reading_of({**row, "vdev": layout}) for layout in layouts) or (reading_of(row),)


def operation_of(row: Row) -> str:
    """Return resilver, scrub or rebuild."""
    kind = str(row.get("kind"))
    if kind == "scrub":
        return "scrub"
    if kind != "resilver" and kind not in REBUILDS:
        raise InputError("kind", kind, f"a row is a resilver, a scrub or one of {', '.join(REBUILDS)}")
    sequential = row.get("scan_algorithm") == "sequential" or kind in REBUILDS
    if re.search(r"dirty[- ]time[- ]log|short absence", text_of(row, "notes")):
        raise NotSimulatedYet("operation", kind, "the drive came back after a short absence")
    return "rebuild" if sequential else "resilver"


def layout_of(row: Row) -> Layout:
    """Return the layout of the pool.

    Raises
    ------
    InputError
        When the row names none, or no width.
    """
    stated = row.get("vdev")
    if not stated:
        raise InputError("vdev", None, "no rule can guess a layout")
    text = str(stated)
    vdevs = list(Layout.parse(layout_text(text)).vdevs)
    if re.search(r"to 3-?way", text, re.IGNORECASE):
        vdevs[-1] = VdevSpec.mirror(3)
    layout = Layout(tuple(vdevs))
    count = int(row.get("n_vdevs") or len(vdevs))
    return layout if count == len(vdevs) or len(vdevs) > 1 else layout.repeated(count)


def replacement_of(row: Row, layout: Layout) -> dict[str, Any]:
    """Return how many drives are new, and that the old ones are online where else data would be lost."""
    count = int(row.get("replaced_drives") or 1)
    lost = count > min(vdev.tolerance for vdev in layout.vdevs)
    return {"replace": count, **({"old_drive": "online"} if lost else {})}


def release_of(row: Row) -> str:
    """Return the release: the version named, or by platform, order of the scan, and date."""
    named = text_of(row, "zfs_version", "platform")
    legacy = row.get("scan_algorithm") == "legacy"
    version = VERSION.search(re.sub(r"<\s*0\.8|Alpha.*", "", str(row.get("zfs_version") or "")) + " " + named)
    if re.search(r"Solaris|SunOS", named):
        return "solaris-11.1" if legacy else "solaris-11.2"
    if re.search(r"OpenIndiana|illumos|OmniOS|SmartOS|Nexenta", named):
        return old_bsd_release(date_of(row)) if legacy or row.get("scan_algorithm") is None else "openzfs-0.8"
    if re.search(r"FreeBSD|FreeNAS|CORE|GELI|NAS4Free|XigmaNAS|GhostBSD", named) and not version:
        return free_bsd_release(row, legacy)
    if branch := BRANCH.search(named):
        return f"openzfs-{branch[1]}.0"  # and not the last of the series, which a version alone stands for
    if version and (version[1] < "0.8") == legacy:
        known = min(version[1], NEWEST)
        return {"0.6": zol_06(date_of(row)), "0.7": "zol-0.7"}.get(known, f"openzfs-{known}")
    return release_by_date(date_of(row), legacy)


def free_bsd_release(row: Row, legacy: bool) -> str:
    """Return the profile of a FreeBSD: of 9 while it scans in legacy order, else the OpenZFS of its time."""
    if legacy:
        return old_bsd_release(date_of(row))
    platform = text_of(row, "platform")
    if re.search(r"1[34]\.|FreeBSD 1[34]|13\.0-U|CORE", platform):
        return "openzfs-2.1"
    return "openzfs-0.8" if (date_of(row) or "2019") < "2021-04" else "openzfs-2.1"


def old_bsd_release(date: str | None) -> str:
    """Return the profile of a FreeBSD or an illumos that scans in legacy order, by date.

    9.2 came in September 2013, 10.1 with the classes of illumos 4045 in November 2014.
    """
    if date is None:
        return "freebsd-9.2"
    return "freebsd-9.1" if date < "2013-10" else "freebsd-9.2" if date < "2015" else "freebsd-10.3"


def zol_06(date: str | None) -> str:
    """Return the 0.6 of a date: 0.6.5.11 (July 2017) was the first to keep two writes in flight, not one."""
    return "zol-0.6.5" if date is not None and date >= "2017-07" else "zol-0.6.5.6"


def release_by_date(date: str | None, legacy: bool) -> str:
    """Return the release that most Linux systems ran at a date (ISO 8601, or its beginning)."""
    if legacy:
        return "zol-0.7" if date is not None and date >= "2017-08" else zol_06(date)
    if date is None:
        return "openzfs-2.1"
    steps = (
        ("2020-12", "0.8"),
        ("2021-08", "2.0"),
        ("2023-11", "2.1"),
        ("2025-02", "2.2"),
        ("2026-01", "2.3"),
    )
    return "openzfs-" + next((version for end, version in steps if date < end), "2.3")


def date_of(row: Row) -> str | None:
    """Return the date of a row, or the year at the end of its id; None where neither tells."""
    if row.get("date"):
        return str(row["date"])
    year = re.search(r"20[012]\d(-\d\d)?", str(row.get("id")))
    return year[0] if year else None


def space_of(row: Row, layout: Layout, operation: str) -> dict[str, Any]:
    """Return ``alloc`` or ``fill``, or nothing where the row does not tell."""
    written = row.get("resilvered_bytes")
    vdev = layout.vdevs[0]
    has_groups = kind_of(vdev.kind).has_groups
    if operation != "scrub" and written and not has_groups:
        share = written / max(1, int(row.get("replaced_drives") or 1))
        repaired = repaired_vdev(layout)
        kind = kind_of(repaired.kind)
        width = kind.spanned_children(repaired)
        if len({each.kind for each in layout.vdevs}) == 1 and (
            kind.is_replicated or len(set(layout.vdevs)) == 1
        ):
            return {"alloc": round(share * width * len(layout.vdevs))}
    if row.get("alloc_bytes"):
        return {"alloc": int(row["alloc_bytes"])}
    used = used_bytes(row)
    if used is not None:
        width = kind_of(vdev.kind).columns(vdev)
        share = (width - vdev.parity) / width
        return {"alloc": round(used / share)}
    if row.get("fill_fraction"):
        return {"fill": float(row["fill_fraction"])}
    return {"fill": FULL} if operation == "rebuild" and has_groups else {}


def largest_vdev(row: Row, layout: Layout) -> tuple[Layout, int, float] | None:
    """Return the largest top-level vdev, its drives' capacity and its share of the data; None where alike."""
    drives = vdev_drives(text_of(row, "drive_model"), layout)
    shares = shares_of_data(layout, drives)
    if shares is None or drives is None:
        return None
    number = max(range(len(shares)), key=lambda each: shares[each])
    return Layout((layout.vdevs[number],)), drives[number], shares[number]


def used_bytes(row: Row) -> int | None:
    """Return what ``zfs list`` showed as USED, without parity [bytes]; None where the row does not tell."""
    found = USED.search(text_of(row, "notes"))
    return None if found is None else parse_bytes(found[1], "notes")


def vdevs_that_hold(row: Row, layout: Layout, release: str, alloc: int) -> int:
    """Return how many vdevs of the row's drives, or of the largest there are, hold the data."""
    size = row.get("drive_bytes") or USUAL_BYTES[-1]
    one = pool_size(layout, int(size), load_release(release))
    return 1 if alloc <= one else math.ceil(alloc / (COMFORTABLE_FILL * one))


def repaired_vdev(layout: Layout) -> VdevSpec:
    """Return the vdev that is repaired: the widest (the one grown), else the first."""
    return max(layout.vdevs, key=lambda vdev: vdev.children)


def drive_bytes_of(row: Row, layout: Layout, release: str, data: Mapping[str, Any]) -> int | None:
    """Return the capacity of a drive [bytes]; None where neither it nor the data is known."""
    alloc = data.get("alloc")
    profile = load_release(release)

    def holds(size: int, share: float) -> bool:
        return alloc is None or alloc <= share * pool_size(layout, size, profile)

    stated, listed = row.get("drive_bytes"), row.get("pool_size_bytes")
    fitting = (size for size in USUAL_BYTES if pool_size(layout, size, profile) >= 0.97 * (listed or 0))
    least = next(fitting, None) if listed else None
    if stated and holds(int(stated), 1.0) and (least is None or stated < CLEARLY_LARGER * least):
        return int(stated)
    if least is not None and holds(least, 1.0):
        return least
    if alloc is None:
        return None
    return next((size for size in USUAL_BYTES if holds(size, COMFORTABLE_FILL)), USUAL_BYTES[-1])


def drives_of(row: Row, size: int | None) -> dict[str, Any]:
    """Return the drives of the scenario, by model where the catalogue has it, else by kind."""
    text = text_of(row, "drive_model")
    target = TARGET.search(text)
    named = text.replace(target["after"], "") if target and target["after"] else text
    model = catalogue_drive(named, size)
    generic = generic_drive(row, named)
    if model is not None and is_outrun(model, slowest(named_drives(named))):
        model = None
    fields: dict[str, Any] = {}
    if model is not None:
        fields = {"drive": model.name}
    elif generic is not None:
        fields = {"drive": generic}
    if size is not None and model is None:
        fields["drive_size"] = size
    if operation_of(row) == "scrub":
        return fields
    if target:
        fields |= new_drive_of(target["before"] or target["after"], size, is_shingled_target(row))
    stated = row.get("drive_bytes")
    if size is not None and stated and stated >= CLEARLY_LARGER * size and "new_drive" not in fields:
        fields |= larger_new_drive(row, int(stated))
    return at_least_as_large(fields)


def larger_new_drive(row: Row, size: int) -> dict[str, Any]:
    """Return the new drive where ``drive_bytes`` is its capacity and not that of the pool's drives."""
    kind = SHINGLED if is_shingled(row) else generic_drive(row, text_of(row, "drive_model")) or DEFAULT_DRIVE
    return {"new_drive": kind, "new_drive_size": size}


def new_drive_of(text: str, size: int | None, shingled: bool) -> dict[str, Any]:
    """Return the new drive: the model named as the target, or a generic one of its series and capacity."""
    for token in MODEL.findall(text):
        try:
            model = load_drive(token)
        except InputError:
            continue
        if size is None or model.capacity_bytes >= size:
            return {"new_drive": model.name, "new_drive_size": model.capacity_bytes}
    named = bytes_in_name(text) or written_bytes(text)
    if named is None or (size is not None and named < 0.99 * size):
        return {}
    kind = SHINGLED if shingled else series_of(text) or FAST
    return {"new_drive": kind, "new_drive_size": max(named, size or 0)}


def at_least_as_large(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the drives with a new one that is not smaller than the old ones by rounding alone."""
    if "new_drive_size" in fields and "drive" in fields and "drive_size" not in fields:
        old = load_drive(fields["drive"]).capacity_bytes
        if 0.97 * old < fields["new_drive_size"] < old:
            return {**fields, "new_drive_size": old}
    return fields


def catalogue_drive(text: str, size: int | None) -> DriveModel | None:
    """Return the first drive named that the catalogue has in this capacity; None where there is none."""
    for match in MODEL.finditer(text):
        try:
            model = load_drive(match[0])
        except InputError:
            continue
        if size is None or math.isclose(model.capacity_bytes, size, rel_tol=0.02):
            return model
    return None


def is_outrun(model: DriveModel, series: str | None) -> bool:
    """Tell whether a drive of 7200 rpm stands among slower ones: the vdev waits for those."""
    return (
        series == SLOW and model.kind == "mechanical" and model.parameters().revolution_s < SLOW_REVOLUTION_S
    )


def generic_drive(row: Row, models: str) -> str | None:
    """Return the generic drive of a row by recording, kind and series; None for a disk of unknown speed.

    Of several models the slowest counts; shingled ones among others are read like those.
    """
    kind = text_of(row, "drive_type")
    if re.search(r"NVMe|PCIe", kind, re.IGNORECASE):
        return "generic-nvme-ssd"
    if re.search(r"SSD|flash", kind, re.IGNORECASE):
        return "generic-nvme-ssd" if series_of(models) == "generic-nvme-ssd" else "generic-sata-ssd"
    if is_shingled(row) and not re.search(r"source[^;]* CMR|SMR target|\blegs? SMR|\bSMR legs?\b", kind):
        return SHINGLED
    if not kind and row.get("drive_bytes") in FLASH_BYTES and (date_of(row) or "") >= FLASH_SINCE:
        return "generic-sata-ssd"
    if row.get("rpm"):
        return SLOW if row["rpm"] < FAST_SPINDLE_RPM else FAST
    drives = named_drives(models)
    if re.search(r"HDD|disk", kind, re.IGNORECASE):
        drives = tuple(drive for drive in drives if drive.generic in (SLOW, FAST, SHINGLED))
    series = slowest(drives)
    conventional = "CMR" in kind or len({drive.generic for drive in drives}) > 1
    return SLOW if series == SHINGLED and conventional else series


def is_shingled(row: Row) -> bool:
    """Tell whether the row speaks of shingled drives, in words or by their models alone."""
    kind = text_of(row, "drive_type")
    if re.search(r"SMR|shingled", kind):
        return True
    drives = named_drives(text_of(row, "drive_model"))
    known = bool(drives) and all(drive.generic == SHINGLED for drive in drives)
    return known and not re.search(r"CMR|PMR|SSD", kind)


def is_shingled_target(row: Row) -> bool:
    """Tell whether the new drive is said to be shingled."""
    return re.search(r"SMR target|target[^;]*\bSMR", text_of(row, "drive_type")) is not None


def surroundings_of(row: Row, layout: Layout, release: str, alloc: float | None) -> dict[str, Any]:
    """Return fragmentation, order, load, use, write cache and tunables, as far as the row states them."""
    fields: dict[str, Any] = {}
    profile = load_release(release)
    if row.get("frag_percent") is not None:
        fields["frag"] = row["frag_percent"] / 100
    if row.get("scan_algorithm") == "legacy" and profile.scan != "legacy":
        fields["order"] = "legacy"
    told = {
        "load": load_of(row, layout),
        "write_cache": write_cache_of(row),
        "ashift": ashift_of(row),
        "history": use_of(row, alloc),
    }
    fields.update((name, value) for name, value in told.items() if value is not None)
    settings = {}
    for name, value in SETTING.findall(text_of(row, "tunables")):
        try:
            profile.with_tunables({name: int(value)})
        except InputError:
            continue
        settings[name] = int(value)
    return fields | ({"tunables": settings} if settings else {})


def is_flash(row: Row) -> bool:
    """Tell whether the row speaks of solid-state drives, in words or by their models alone."""
    kind = text_of(row, "drive_type")
    drives = {drive.generic for drive in named_drives(text_of(row, "drive_model"))}
    by_name = not kind and bool(drives) and drives <= {"generic-sata-ssd", "generic-nvme-ssd"}
    return "SSD" in kind or by_name


def category_of(row: Row) -> str:
    """Return the class that a row is scored in."""
    if is_shingled(row):
        return "SMR"
    if is_flash(row):
        return "SSD"
    if load_words(row) == "heavy":
        return "loaded"
    algorithm = row.get("scan_algorithm")
    return "rebuild" if algorithm == "sequential" else str(algorithm or "unknown")


def bytes_per_drive(row: Row, layout: Layout, data: Mapping[str, Any], size: int | None) -> float | None:
    """Return what a planner would take as the bytes on one drive [bytes]; None where it is not told."""
    written = row.get("resilvered_bytes")
    if written:
        return float(written) / max(1, int(row.get("replaced_drives") or 1))
    if "alloc" in data:
        vdev = layout.vdevs[0]
        width = kind_of(vdev.kind).spanned_children(vdev)
        return float(data["alloc"]) / len(layout.vdevs) / width
    return None if size is None or "fill" not in data else float(size) * float(data["fill"])


def rates_of(fields: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the mean rate of the scenario's (new) drive, and the fastest it may have [bytes/s].

    The fastest is that of the outermost tracks, two standard deviations above what is known of the drive's
    class.  None where no drive is stated.
    """
    name, size = fields.get("drive", DEFAULT_DRIVE), fields.get("drive_size")
    if "new_drive" in fields:
        name, size = fields["new_drive"], fields["new_drive_size"]
    model = load_drive(name)
    if size is None and model.is_generic:
        return None, None
    model = sized(
        model, model.capacity_bytes if size is None else int(size), load_release(fields["release"]).year
    )
    margin = math.exp(2.0 * model.spread().outer_rate)
    flash = model.flash()
    if flash is not None:
        mean = flash.read_rate if fields["operation"] == "scrub" else flash.write_rate
        return float(mean), float(max(flash.read_rate, flash.write_rate)) * margin
    rates = model.parameters().zone_rates
    return len(rates) / math.fsum(1.0 / rate for rate in rates), float(max(rates)) * margin
