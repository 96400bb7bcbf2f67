"""Which release wrote an output: from its version, else from the forms that releases differ in."""

from __future__ import annotations

import re

from zsim.observe.pool_import.finding import Evidence
from zsim.scenario.releases.profile import DEFAULT_RELEASE

_SOLARIS_DISK = re.compile(r"c\d{1,4}(?:t[0-9A-F]{1,32})?d\d{1,4}(?:s\d{1,2})?", re.ASCII)
_FREEBSD_DISK = re.compile(r"(?:ada|da|ad|mfid|mfisyspd|nvd|gpt/|gptid/|label/|diskid/).{1,200}", re.ASCII)
_POOL_VERSIONS = {34: "solaris-11.1", 35: "solaris-11.2"}

_BY_FORM = {
    "solaris": ("solaris-11.2", "Solaris 11.2 prints its progress so"),
    "json": ("openzfs-2.3", "zpool status -j came with 2.3; it may be a later one"),
    "2.2": ("openzfs-2.3", "releases from 2.2 on print their progress so"),
    "2.0": ("openzfs-2.1", "2.0 and 2.1 print their progress so"),
    "0.8": ("openzfs-0.8", "0.8 prints durations as '0 days'"),
    "0.8+": ("openzfs-2.1", "0.8 to 2.1 print their progress so"),
}
"""Release taken for a form of the scan line (see `zsim.observe.zpool.status`), and what the form says."""


def find_release(evidence: Evidence) -> None:
    """Note the release, if anything tells it."""
    host, config, status = evidence.files.host, evidence.config, evidence.status
    if host.release:
        evidence.find("release", host.release, f"version {host.version}")
        return
    if host.version:
        evidence.notes.append(
            f"{host.version} is no release that zsim models: state the nearest with --set release="
        )
    if config is not None and config.version in _POOL_VERSIONS:
        evidence.find("release", _POOL_VERSIONS[config.version], f"pool version {config.version} of zdb -C")
        return
    form = status.scan.form if status is not None and status.scan is not None else ""
    if form == "legacy":
        _find_legacy(evidence)
    elif form in _BY_FORM:
        name, why = _BY_FORM[form]
        evidence.find("release", name, f"zpool status: {why}", inferred=True)
    elif evidence.listed is not None and "ckpoint" not in evidence.listed.columns:
        _find_legacy(evidence)
    else:
        evidence.notes.append(
            f"nothing tells the release of ZFS: {DEFAULT_RELEASE} is assumed; add the output of zfs version"
        )


def _find_legacy(evidence: Evidence) -> None:
    """Note a release before 0.8, by indentation, columns and names of the drives."""
    columns = evidence.listed.columns if evidence.listed is not None else frozenset[str]()
    names = drive_names(evidence)
    if (
        evidence.status is not None
        and evidence.status.tabbed
        and not any(map(_FREEBSD_DISK.fullmatch, names))
    ):
        name, why = "zol-0.7", "the scan line has the form of 0.6 and 0.7, indented with tabs as in 0.7"
    elif any(map(_SOLARIS_DISK.fullmatch, names)):
        name, why = (
            "solaris-11.1",
            "scan line of pool versions up to 34, drives named as in Solaris or illumos",
        )
    elif any(map(_FREEBSD_DISK.fullmatch, names)) and "frag" not in columns:
        name, why = "freebsd-9.2", "scan line of pool version 28, drives named as in FreeBSD"
    elif "frag" in columns:
        name, why = "zol-0.6.5", "a release with FRAG but before 0.8"
    else:
        name, why = "zol-0.6.5", "scan line of a release before 0.8"
    evidence.find("release", name, f"zpool status: {why}", inferred=True)


def drive_names(evidence: Evidence) -> list[str]:
    """Return the names of the drives as zpool prints them."""
    tops = list(evidence.status.vdevs) if evidence.status is not None else []
    if not tops and evidence.listed is not None:
        tops = [vdev for vdev, _ in evidence.listed.vdevs]
    return [leaf.name for top in tops for leaf in top.leaves() if leaf.kind == "disk"]
