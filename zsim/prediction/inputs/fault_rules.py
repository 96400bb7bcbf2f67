"""After how many I/O errors a drive is faulted, and by whom: ZED, zfsd, the fault manager of illumos."""

from __future__ import annotations

from typing import NamedTuple

from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.prediction.inputs.sick import sickness_number
from zsim.scenario.releases.profile import version_numbers


class FaultRule(NamedTuple):
    """After how many I/O errors a drive is faulted.

    Attributes
    ----------
    name : str
        Of the daemon that does it.
    errors : int
        Reported within the window.
    window_s, delay_s : float
        The window, and from its last error until the drive is faulted [s].
    alone : bool
        Whether a drive is faulted only while no other of its vdev has had errors.
    """

    name: str
    errors: int
    window_s: float
    delay_s: float
    alone: bool = False

    @property
    def words(self) -> str:
        """Who does it, and after what, in words."""
        return f"{self.name}: {self.errors} I/O errors in {format_duration(self.window_s)}"


_NAMES = {"zed": "ZED", "zfsd": "zfsd", "fmd": "the fault manager (fmd)"}


def fault_rule(case: Case) -> FaultRule | None:
    """Return the rule by which drives of a case are faulted; None where nothing watches them.

    Notes
    -----
    From 2.3.0 on ZED faults no drive while another of the same vdev has had errors, since the cause may lie
    outside both (zfs_diagnosis.c:zfs_other_serd_cases).  ZED diagnoses since 0.7: in 0.6.5 a script could put
    a spare in, which is off by default (cmd/zed/zed.d/io-spare.sh).  FreeBSD has zfsd since 11.0.
    """
    daemon = _daemon(case)
    if daemon is None:
        return None
    errors, window_s, delay_s = (
        sickness_number("recovery", f"{daemon}.{name}") for name in ("errors", "window_s", "delay_s")
    )
    alone = daemon == "zed" and case.release.openzfs_version >= (2, 3)
    return FaultRule(_NAMES[daemon], round(errors), window_s, delay_s, alone)


def _daemon(case: Case) -> str | None:
    release = case.release
    if case.platform == "illumos":
        return "fmd"
    if case.platform == "freebsd":
        return None if release.family == "freebsd" and version_numbers(release.version) < (11, 0) else "zfsd"
    return None if release.family == "zol" and release.openzfs_version < (0, 7) else "zed"
