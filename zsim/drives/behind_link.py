"""Equal drives behind one shared link, each with a stream of its own: what the link alone does."""

from __future__ import annotations

import numpy as np

from zsim.drives.derived import random_service
from zsim.drives.links import LinkSpec
from zsim.drives.parameters import DriveParameters
from zsim.drives.readahead import ahead_completion
from zsim.jit import njit

NO_LINK = LinkSpec(name="none", rate=1e12, per_command_s=0.0, switching="shared", bays=64)


@njit
def _sequential_streams(
    rate: float,
    revolution: float,
    segment: int,
    overhead: float,
    link_rate: float,
    per_command: float,
    command_based: bool,
    drives: int,
    length: int,
    commands: int,
) -> float:
    """Return when the last of `commands` reads is done [s]; each drive has one outstanding, reading ahead."""
    issued = np.zeros(drives)
    freed = np.zeros(drives)
    heads = np.zeros(drives, dtype=np.int64)
    link_free, last = 0.0, 0.0
    for _ in range(commands):
        drive = np.argmin(issued)
        begin = issued[drive] + overhead
        if command_based:
            begin = max(begin, link_free + overhead)
        media = ahead_completion(
            heads[drive], freed[drive], begin, heads[drive], length, segment, rate, link_rate, revolution
        )
        handed = length / link_rate
        if command_based:
            done = media + per_command
        else:
            # The data follow the medium; the link is held for their own time only.
            done = max(media, max(link_free, begin) + handed + per_command)
        link_free = done if command_based else max(link_free, begin) + handed + per_command
        freed[drive] = max(media, freed[drive] + length / rate)
        heads[drive] += length
        issued[drive] = done
        last = max(last, done)
    return last


def sequential_rate_behind(
    drive: DriveParameters, link: LinkSpec, drives: int, length: int = 131072, commands: int = 20000
) -> float:
    """Return the total rate of sequential reads from all drives at once, one read outstanding each [bytes/s].

    Parameters
    ----------
    drive : DriveParameters
        A disk; its outermost zone is read.
    link : LinkSpec
    drives : int
    length : int
        Of a read [bytes].
    commands : int
        Reads in all.
    """
    overhead = 0.0 if drive.overhead_overlaps else drive.read_overhead_s
    elapsed = _sequential_streams(
        drive.zone_rates[0], drive.revolution_s, drive.read_pass_under_bytes, overhead, link.rate,
        link.per_command_s, link.command_based, drives, length, commands,
    )  # fmt: skip
    return commands * length / float(elapsed)


def random_rate_behind(
    drive: DriveParameters, link: LinkSpec, drives: int, size: int = 4096, span: float = 1.0
) -> float:
    """Return random reads per second from all drives at once, one read outstanding each [1/s].

    With command-based switching the drives take turns; otherwise each works by itself, and only the data
    and the commands share the link.

    Parameters
    ----------
    drive : DriveParameters
        A disk.
    link : LinkSpec
    drives : int
    size : int
        [bytes]
    span : float
        Stretch of every drive that is read [fraction].
    """
    service = random_service(drive, size, 0.0, span)
    on_link = link.per_command_s + size / link.rate
    if link.command_based:
        return 1.0 / (service + on_link)
    return min(drives / (service + on_link), 1.0 / on_link)
