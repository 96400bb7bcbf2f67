"""Which release wrote an output: by its version, else by forms that differ between releases."""

from __future__ import annotations

import functools
import re

from zsim.base import model_data
from zsim.base.parsed import tables, text, value_of
from zsim.observe.devices.asking import FREEBSD_NAME, SOLARIS_NAME
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.scenario.releases.profile import DEFAULT_RELEASE, load_release, release_names, version_numbers
from zsim.vdevs.kind import kinds

_FREEBSD_VERSION = re.compile(r"FreeBSD (\d{1,2})\.(\d{1,2})", re.ASCII)
BYTES_BY_DRIVE = re.compile(r"^\d{1,5}(?:[.,]\d{1,2})?[KMGT]? resilvered", re.ASCII)
"""What stood behind the row of a drive up to pool version 27: ``5.62M resilvered``."""
FREEBSD, EARLY_FREEBSD = "freebsd-", "freebsd-9.2"


@functools.cache
def _by_form() -> dict[str, tuple[str, str, str]]:
    """Return for each form of the scan line the release taken, what it says, and the first that has it."""
    return {
        text(form, "form"): (name, text(form, "says"), text(form, "since") if "since" in form else name)
        for name in release_names()
        for form in tables(model_data.load("releases", name), "status_forms")
    }


@functools.cache
def _sorted_since() -> dict[str, int]:
    """Return the year from which most systems ran each release with a sorted scan."""
    return {each: load_release(each).year for each in release_names() if each.startswith("openzfs-")}


@functools.cache
def _by_pool_version() -> dict[int, str]:
    """Return the release that alone has a pool version."""
    files = {name: model_data.load("releases", name) for name in release_names()}
    return {
        int(value_of(data, "pool_version")): name for name, data in files.items() if "pool_version" in data
    }


def find_release(outputs: PoolOutputs) -> None:
    """Note the release, if anything tells it."""
    host, status = outputs.files.host, outputs.status
    if host.release:
        outputs.find("release", host.release, f"version {host.version}")
        return
    form = status.scan.form if status is not None and status.scan is not None else ""
    if (nearest := _nearest_freebsd(host.version)) and form == "legacy":
        outputs.find(
            "release", nearest, f"{host.version}, of which it is the nearest modelled", inferred=True
        )
        return
    _find_by_signs(outputs, form)
    if host.version:
        taken = outputs.text("release") or DEFAULT_RELEASE
        outputs.notes.append(
            f"{host.version} is not a release that zsim models: {taken} is used, judging by the output;"
            " --set release= states another"
        )


def _find_by_signs(outputs: PoolOutputs, form: str) -> None:
    """Note the release that the form of the outputs tells."""
    scan = outputs.status.scan if outputs.status is not None else None
    bare = scan is not None and scan.scan_rate is None and scan.repaired is None and scan.to_go is None
    if form == "solaris" and bare and not any(map(SOLARIS_NAME.fullmatch, drive_names(outputs))):
        # "3.95T scanned" is also what is left where the rest of a line was cut off.
        form = ""
    config = outputs.config
    if config is not None and config.version in _by_pool_version():
        outputs.find(
            "release", _by_pool_version()[config.version], f"pool version {config.version} of zdb -C"
        )
        return
    if form == "legacy" or (form not in _by_form() and _is_before_sorted(outputs)):
        _find_legacy(outputs)
    elif form in _by_form():
        name, says, since = _by_form()[form]
        _infer(outputs, *_in_time(outputs, name, says, since))
    elif _is_unnumbered(outputs) or (outputs.listed is not None and "ckpoint" not in outputs.listed.columns):
        _find_legacy(outputs)
    elif older := _in_use(outputs):
        _infer(outputs, *older)
    else:
        outputs.notes.append(
            f"the ZFS release is not shown: {DEFAULT_RELEASE} is assumed; add the output of zfs version"
        )


def _is_unnumbered(outputs: PoolOutputs) -> bool:
    """Tell whether a table is of Solaris or FreeBSD from before vdevs had numbers, or has bytes by drive.

    Later both are printed otherwise: ``raidz2-0``, ``(resilvering)`` (zpool_main.c:print_status_config).
    """
    tops = [top for top in outputs.status.vdevs if top.children] if outputs.status is not None else []
    names = drive_names(outputs)
    known = any(map(FREEBSD_NAME.fullmatch, names)) or any(map(SOLARIS_NAME.fullmatch, names))
    bare = bool(tops) and all(re.fullmatch(rf"{re.escape(top.kind)}[1-3]?", top.name) for top in tops)
    by_drive = any(BYTES_BY_DRIVE.search(leaf.note) for top in tops for leaf in top.leaves())
    return known and (bare or by_drive)


def _nearest_freebsd(version: str) -> str:
    """Return the FreeBSD with a ZFS of its own that is the nearest before a version; nothing of others."""
    match = _FREEBSD_VERSION.fullmatch(version)
    if match is None:
        return ""
    asked = (int(match[1]), int(match[2]))
    before = [name for name in release_names() if name.startswith(FREEBSD) and _numbers(name) <= asked]
    return max(before, key=_numbers, default="")


def _numbers(name: str) -> tuple[int, ...]:
    return version_numbers(name.removeprefix(FREEBSD))


def _year(outputs: PoolOutputs) -> int | None:
    """Return the year in which a status was printed, as far as it tells."""
    status = outputs.status
    dates = [status.at, *(scan.at for scan in status.scans)] if status is not None else []
    return max((date.year for date in dates if date is not None), default=None)


def _is_before_sorted(outputs: PoolOutputs) -> bool:
    """Tell whether a status was printed before most systems ran any release with a sorted scan."""
    year = _year(outputs)
    return year is not None and year < min(_sorted_since().values())


def _in_use(outputs: PoolOutputs) -> tuple[str, str] | None:
    """Return the release that most systems ran when a status was printed; None from the default one on."""
    year = _year(outputs)
    if year is None or year >= load_release(DEFAULT_RELEASE).year:
        return None
    before = {each: since for each, since in _sorted_since().items() if since <= year}
    latest = max(before, key=before.__getitem__, default=None)
    return None if latest is None else (latest, f"this is of {year}, when most systems ran it")


def _in_time(outputs: PoolOutputs, name: str, says: str, since: str) -> tuple[str, str]:
    """Return the latest release of a form that was in use when a status was printed, and why it is taken."""
    year = _year(outputs)
    if since == name or year is None or year >= load_release(name).year:
        return name, says
    known = _sorted_since()
    in_use = [each for each in known if known[since] <= known[each] <= min(year, known[name])]
    return max(in_use, key=known.__getitem__, default=since), f"{says}, and this is of {year}"


def _find_legacy(outputs: PoolOutputs) -> None:
    """Note a release before 0.8, by indentation, columns and names of the drives."""
    columns = outputs.listed.columns if outputs.listed is not None else frozenset[str]()
    names, status = drive_names(outputs), outputs.status
    if status is not None and status.with_bytes:
        name, why = "zol-0.7", "the scan line has the form of 0.6 and 0.7, with 0B as in 0.7"
    elif status is not None and status.tabbed and not any(map(FREEBSD_NAME.fullmatch, names)):
        name, why = "zol-0.7", "the scan line has the form of 0.6 and 0.7, indented with tabs as in 0.7"
    elif any(map(SOLARIS_NAME.fullmatch, names)):
        name, why = (
            "solaris-11.1",
            "in the form of pool versions up to 34, drives named as in Solaris or illumos",
        )
    elif any(map(FREEBSD_NAME.fullmatch, names)) and "frag" not in columns:
        why = "in the form of pool version 28 or before, drives named as in FreeBSD"
        name = _of_freebsd(outputs)
    elif "frag" in columns:
        name, why = "zol-0.6.5", "a release with FRAG but before 0.8"
    else:
        name, why = "zol-0.6.5", "scan line of a release before 0.8"
    _infer(outputs, name, why)


def _of_freebsd(outputs: PoolOutputs) -> str:
    """Return the latest FreeBSD with a ZFS of its own that was in use when a status was printed."""
    year = _year(outputs) or 0
    known = [each for each in release_names() if each.startswith(FREEBSD)]
    later = [each for each in known if load_release(EARLY_FREEBSD).year < load_release(each).year <= year]
    return max(later, key=lambda each: load_release(each).year, default=EARLY_FREEBSD)


def _infer(outputs: PoolOutputs, name: str, why: str) -> None:
    """Note the release that a form tells, or the first one after it that can do all that is shown."""
    vdevs = outputs.status.vdevs if outputs.status is not None else ()
    shown = {kinds()[vdev.kind] for vdev in vdevs if vdev.kind in kinds()}
    unknown = [kind for kind in shown if not kind.is_known_to(load_release(name))]
    by_year = sorted(release_names(), key=lambda each: load_release(each).year)
    if unknown:
        knowing = (each for each in by_year if all(kind.is_known_to(load_release(each)) for kind in shown))
        name, why = next(knowing), f"the first release with {unknown[0].title}"
    expands = outputs.status is not None and outputs.status.expansion is not None
    if expands and not load_release(name).raidz_expansion:
        name = next(each for each in by_year if load_release(each).raidz_expansion)
        why = "the first release that expands a RAID-Z"
    outputs.find("release", name, f"zpool status: {why}", inferred=True)


def drive_names(outputs: PoolOutputs) -> list[str]:
    """Return the names of the drives as zpool prints them."""
    tops = list(outputs.status.vdevs) if outputs.status is not None else []
    if not tops and outputs.listed is not None:
        tops = [vdev for vdev, _ in outputs.listed.vdevs]
    if not tops and outputs.built is not None:
        tops = list(outputs.built.vdevs)
    return [leaf.name for top in tops for leaf in top.leaves() if leaf.kind == "disk"]
