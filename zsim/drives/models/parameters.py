"""The parameters of one drive that the engines need: plain numbers in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

QueuePolicy = Literal["fcfs", "c-look", "sptf"]
DestagePolicy = Literal["queue", "idle"]
MAX_ZONES = 64
MAX_SEGMENTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveParameters:
    """Parameters of one drive in its parametric form.

    A mechanical drive (``kind="mechanical"``) has ``len(zone_rates)`` zones of equal width in LBA.  The media
    rate of a zone is the sustained one, head and track switches included.  Seek time by distance d
    (fraction of the full stroke, approximated by the LBA distance over the capacity) is
    ``a + b*sqrt(d)`` below `seek_knee` and ``c + e*d`` above it (the form of Ruemmler & Wilkes, 1994).

    Attributes
    ----------
    capacity_bytes : int
        [bytes]
    kind : {"mechanical", "flash"}
    revolution_s : float
        Time of a revolution [s]; 0 for flash.
    zone_rates : tuple of float, shape (n_zones,)
        Sustained media rate from the outermost zone inwards [bytes/s]; at most `MAX_ZONES`.
    phase_revolutions : float
        Angle of the platter at time 0 [revolutions].
    seek_short_a_s, seek_short_b_s, seek_long_c_s, seek_long_e_s : float
        Seek curve [s].
    seek_knee : float
        Distance at which the long branch begins [fraction of the stroke].
    write_settle_s : float
        Added to every seek of a write [s].
    read_overhead_s, write_overhead_s : float
        Command overhead [s].
    overhead_overlaps : bool
        Whether the overhead of a command that waited in the drive hides behind the previous service.
    read_pass_under_bytes, write_pass_under_bytes : int
        Forward gap up to which the head simply passes over the gap (read-ahead; write-behind) without a
        lost revolution [bytes]; -1: never, the angle decides.
    read_segments : int
        Segments of the read-ahead buffer, of twice `read_pass_under_bytes` each, at most `MAX_SEGMENTS`;
        0: what the drive reads ahead while it is idle is not kept.
    seekless_bytes : int
        Forward gap within which the arm need not move, about a track [bytes]; the angle decides the wait.
    queue_depth : int
        Commands the drive can hold and reorder (1: no queueing in the drive).
    queue_policy : {"fcfs", "c-look", "sptf"}
        Order in which the drive serves what it holds.
    queue_max_age_s : float
        A command that waited longer is served first [s].
    write_cache_bytes : int
        Write-back cache [bytes]; 0: off.
    destage : {"queue", "idle"}
        When writes answered from the cache go to the medium: as any other command the drive holds, or only
        when nobody waits for another one or half of the cache is dirty.
    flush_each_txg : bool
        Whether the end of a transaction group waits for the write cache to be empty (FLUSH CACHE).
    cached_writes_age : bool
        Whether the age limit holds for writes that were answered from the cache already.
    write_coalescing : bool
        Whether contiguous writes in the cache go to the medium as one extent, from its beginning, and a write
        that found the cache full is answered as soon as there is room for it.
    interface_rate : float
        Rate at which the cache takes and gives data [bytes/s].
    physical_sector_bytes, logical_sector_bytes : int
        A write that covers a part of a physical sector reads it first and costs a revolution.
    parallel_commands : int
        Commands in service at once (flash channels); 1 for a disk.
    flash_latency_min_s, flash_latency_max_s : float
        Access latency of flash [s].
    flash_write_latency_s : float
        Access latency of a write [s]; negative: that of reads.
    flash_read_rate, flash_write_rate : float
        Rate of one command [bytes/s], or of the whole drive if it is shared.
    flash_shares_rate : bool
        Whether the data of all commands go through one channel; their latencies overlap in any case.
    slc_cache_bytes : int
        Bytes taken at `flash_write_rate` before the cliff; 0: no cliff.
    slc_rate_after : float
        Write rate beyond the cliff, at which idle time frees the fast region too [bytes/s].
    smr_band_bytes : int
        Band of a drive-managed shingled drive, which is rewritten as a whole [bytes]; 0: not shingled.
    smr_cache_bytes, smr_cached_writes : int
        Bytes and separate writes that its persistent cache holds.
    smr_idle_s : float
        Idle time after which it begins to clean [s].
    smr_prior : float
        Share of the persistent cache that is full when a run begins, of bands filled as those of the run.
    smr_cleaning : float
        Factor on the time a band takes to be rewritten.
    smr_fixed : float
        Share of what is once a band (arm and turns) that each takes: less than 1 where bands stand for parts
        of real ones.
    smr_reduced : bool
        Whether the persistent cache is as much smaller as a miniature of a pool: what is written again in
        every transaction group would be cleaned many times as often.
    rotating : bool
        What the drive reports to ZFS (``vdev_nonrot`` is its opposite).
    """

    capacity_bytes: int
    kind: Literal["mechanical", "flash"] = "mechanical"
    revolution_s: float = 60.0 / 7200.0
    zone_rates: tuple[float, ...] = (150e6,)
    phase_revolutions: float = 0.0
    seek_short_a_s: float = 0.001
    seek_short_b_s: float = 0.0
    seek_long_c_s: float = 0.001
    seek_long_e_s: float = 0.0
    seek_knee: float = 0.25
    write_settle_s: float = 0.0
    read_overhead_s: float = 0.0
    write_overhead_s: float = 0.0
    overhead_overlaps: bool = True
    read_pass_under_bytes: int = -1
    write_pass_under_bytes: int = -1
    read_segments: int = 0
    seekless_bytes: int = 0
    queue_depth: int = 32
    queue_policy: QueuePolicy = "sptf"
    queue_max_age_s: float = 0.5
    write_cache_bytes: int = 0
    cached_writes_age: bool = False
    write_coalescing: bool = False
    destage: DestagePolicy = "queue"
    flush_each_txg: bool = False
    interface_rate: float = 300e6
    physical_sector_bytes: int = 512
    logical_sector_bytes: int = 512
    parallel_commands: int = 1
    flash_latency_min_s: float = 0.0
    flash_latency_max_s: float = 0.0
    flash_write_latency_s: float = -1.0
    flash_read_rate: float = 500e6
    flash_write_rate: float = 500e6
    flash_shares_rate: bool = False
    slc_cache_bytes: int = 0
    slc_rate_after: float = 500e6
    smr_band_bytes: int = 0
    smr_cache_bytes: int = 0
    smr_cached_writes: int = 0
    smr_idle_s: float = 1.0
    smr_prior: float = 0.0
    smr_cleaning: float = 1.0
    smr_fixed: float = 1.0
    smr_reduced: bool = False
    rotating: bool = True
