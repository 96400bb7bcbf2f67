"""A drive model: numbers with sources, and the parameters of the engines derived from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from zsim.base.errors import InputError
from zsim.drives.models.generations import LATEST, outer_rate
from zsim.drives.models.parameters import MAX_SEGMENTS, DriveParameters, QueuePolicy

# Of a track at the rate of the outermost zone: tracks further in are shorter.
TRACK_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class DriveQuantity:
    """One number of a drive.

    Attributes
    ----------
    value : float
        In `unit`.
    unit : str
    kind : str
        datasheet, measured, fitted, assumed or derived.
    source : str
        Full text of the reference.
    uncertainty : float
        Relative standard deviation; 0 where the source is taken at its word.
    note : str
    si : float
        The value in SI units.
    """

    value: float
    unit: str
    kind: str
    source: str
    uncertainty: float
    note: str
    si: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveSpread:
    """How far a drive may lie from its model: relative standard deviations.

    Attributes
    ----------
    outer_rate, inner_ratio, seek, overhead : float
        Of what is known of the *model*: common to all its drives in a pool.
    drive_rate, drive_seek, drive_overhead : float
        Between drives of one model: drawn for each drive alone.
    """

    outer_rate: float
    inner_ratio: float
    seek: float
    overhead: float
    drive_rate: float
    drive_seek: float
    drive_overhead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SmrParameters:
    """Drive-managed shingling of a drive.

    Attributes
    ----------
    persistent_cache_bytes : int
        Size of the conventional region that takes random writes first [bytes].
    cached_writes : int
        Separate writes that region holds at most.
    band_bytes : int
        Size of a band, which is rewritten as a whole [bytes].
    idle_s : float
        Idle time after which the drive begins to clean [s].
    """

    persistent_cache_bytes: int
    cached_writes: int
    band_bytes: int
    idle_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashParameters:
    """What distinguishes a solid-state drive beyond `DriveParameters`.

    Attributes
    ----------
    read_latency_s, write_latency_s : float
        Access latency of one command [s].
    read_rate, write_rate : float
        Rate of the whole drive [bytes/s].
    parallel_commands : int
        Commands whose latencies overlap.
    slc_cache_bytes : int
        Bytes taken at `write_rate` before the cliff; 0: no cliff.
    write_rate_after_cache : float
        [bytes/s]
    """

    read_latency_s: float
    write_latency_s: float
    read_rate: float
    write_rate: float
    parallel_commands: int
    slc_cache_bytes: int
    write_rate_after_cache: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveModel:
    """A drive of the catalogue.

    Attributes
    ----------
    name : str
        Stem of its file.
    vendor, model, drive_class, note : str
        For people.
    aliases : tuple of str
        Other names it is found under.
    kind : {"mechanical", "flash"}
    recording : {"cmr", "smr", "flash"}
    queue_policy : {"fcfs", "c-look", "sptf"}
    quantities : mapping of str to DriveQuantity
        The parameters, see `zsim.drives.catalogue.UNITS`.
    observed : mapping of str to DriveQuantity
        Measurements to hold the model against.
    drive_to_drive : mapping of str to DriveQuantity
        Relative standard deviations between drives of the model.
    measured : DriveParameters or None
        Zones and seek curve of a drive that was measured track by track, in place of the derived ones.
    """

    name: str
    vendor: str
    model: str
    drive_class: str
    note: str
    aliases: tuple[str, ...]
    kind: Literal["mechanical", "flash"]
    recording: Literal["cmr", "smr", "flash"]
    queue_policy: QueuePolicy
    quantities: Mapping[str, DriveQuantity]
    observed: Mapping[str, DriveQuantity]
    drive_to_drive: Mapping[str, DriveQuantity]
    measured: DriveParameters | None = None

    @property
    def capacity_bytes(self) -> int:
        """Capacity [bytes]."""
        return int(self.quantities["capacity"].si)

    @property
    def is_generic(self) -> bool:
        """Whether the drive stands for its class and may be scaled to any capacity."""
        return self.vendor == "generic"

    def parameters(
        self, *, outer_rate: float = 1.0, inner_ratio: float = 1.0, seek: float = 1.0, overhead: float = 1.0
    ) -> DriveParameters:
        """Return the numbers the engines take.

        Parameters
        ----------
        outer_rate, inner_ratio, seek, overhead : float
            Factors on the outer rate (and with it all rates), the ratio of inner to outer rate, all seek
            times, and the command overhead: the coordinates of `spread`.

        Raises
        ------
        InputError
            When the file or the factors give an impossible drive.
        """
        if self.measured is not None:
            return _with_factors(self.measured, outer_rate, inner_ratio, seek, overhead)
        if self.kind == "flash":
            return self._flash_parameters(outer_rate, overhead)
        return self._mechanical_parameters(outer_rate, inner_ratio, seek, overhead)

    def spread(self) -> DriveSpread:
        """Return how uncertain the model is and how much drives of it differ."""
        rate = "read_rate" if self.kind == "flash" else "outer_rate"
        latency = "read_latency" if self.kind == "flash" else "read_overhead"
        return DriveSpread(
            outer_rate=self._uncertainty(rate),
            inner_ratio=self._uncertainty("inner_rate"),
            seek=self._uncertainty("seek_average"),
            overhead=self._uncertainty(latency),
            drive_rate=self._between("rate"),
            drive_seek=self._between("seek"),
            drive_overhead=self._between("overhead"),
        )

    def with_capacity(self, capacity_bytes: int, year: int = LATEST) -> DriveModel:
        """Return a generic drive scaled to a capacity; a disk's rates follow the platters of its time.

        Parameters
        ----------
        capacity_bytes : int
            [bytes]
        year : int
            In which it is in use: see `zsim.drives.models.generations`.

        Raises
        ------
        InputError
            When the drive is a particular model, or the capacity is not positive.
        """
        if capacity_bytes <= 0:
            raise InputError("drive capacity", capacity_bytes, "it is a positive number of bytes", "")
        if capacity_bytes == self.capacity_bytes and year == LATEST:
            return self
        if not self.is_generic:
            reason = f"{self.name} has {self.capacity_bytes} bytes"
            raise InputError("drive capacity", capacity_bytes, reason, "name a generic drive to scale one")
        factors = {"capacity": capacity_bytes / self.capacity_bytes}
        if "density_exponent" in self.quantities:
            law = self._si("density_rate"), self._si("density_exponent")
            rate = outer_rate(capacity_bytes, year, *law) / self._si("outer_rate")
            # What is read ahead is about one outer track.
            factors |= {"outer_rate": rate, "inner_rate": rate, "read_ahead": rate}
        scaled = {key: _scaled(each, factors.get(key, 1.0)) for key, each in self.quantities.items()}
        return replace(self, quantities=scaled)

    def smr(self) -> SmrParameters | None:
        """Return the shingling of the drive, None for a conventional one."""
        if self.recording != "smr":
            return None
        return SmrParameters(
            persistent_cache_bytes=int(self._si("persistent_cache")),
            cached_writes=int(self._si("cached_writes")),
            band_bytes=int(self._si("band")),
            idle_s=self._si("idle_before_cleaning"),
        )

    def flash(self) -> FlashParameters | None:
        """Return the solid-state parameters of the drive, None for a disk."""
        if self.kind != "flash":
            return None
        write = self._si("write_rate")
        cliff = "slc_cache" in self.quantities
        return FlashParameters(
            read_latency_s=self._si("read_latency"),
            write_latency_s=self._si("write_latency"),
            read_rate=self._si("read_rate"),
            write_rate=write,
            parallel_commands=int(self._si("parallel_commands")),
            slc_cache_bytes=int(self._si("slc_cache")) if cliff else 0,
            write_rate_after_cache=self._si("write_rate_after_cache") if cliff else write,
        )

    def _si(self, key: str) -> float:
        return self.quantities[key].si

    def _uncertainty(self, key: str) -> float:
        return self.quantities[key].uncertainty if key in self.quantities else 0.0

    def _between(self, key: str) -> float:
        return self.drive_to_drive[key].value if key in self.drive_to_drive else 0.0

    def _mechanical_parameters(
        self, outer_rate: float, inner_ratio: float, seek: float, overhead: float
    ) -> DriveParameters:
        """Return the numbers of a disk.

        The angle decides whether a write that follows another loses a turn, so no write passes under a gap
        for free; reads do as far as the drive reads ahead.
        """
        outer = self._si("outer_rate") * outer_rate
        ratio = min(self._si("inner_rate") / self._si("outer_rate") * inner_ratio, 1.0)
        knee = self._si("seek_knee")
        shingled = self.smr()
        a, b, c, e = seek_curve(
            self._si("seek_track") * seek, self._si("seek_average") * seek, self._si("seek_full") * seek, knee
        )
        return DriveParameters(
            capacity_bytes=self.capacity_bytes,
            revolution_s=60.0 / self._si("rotation"),
            zone_rates=zone_rates(outer, ratio, int(self._si("zones"))),
            seek_short_a_s=a,
            seek_short_b_s=b,
            seek_long_c_s=c,
            seek_long_e_s=e,
            seek_knee=knee,
            write_settle_s=self._si("write_settle") * seek,
            read_overhead_s=self._si("read_overhead") * overhead,
            write_overhead_s=self._si("write_overhead") * overhead,
            read_pass_under_bytes=int(self._si("read_ahead")),
            read_segments=self._read_segments(),
            seekless_bytes=int(outer * 60.0 / self._si("rotation") * TRACK_SHARE),
            queue_depth=int(self._si("queue_depth")),
            queue_policy=self.queue_policy,
            queue_max_age_s=self._si("queue_max_age"),
            write_cache_bytes=int(self._si("write_cache")),
            write_coalescing=True,
            interface_rate=self._si("interface_rate"),
            physical_sector_bytes=int(self._si("physical_sector")),
            logical_sector_bytes=int(self._si("logical_sector")),
            smr_band_bytes=shingled.band_bytes if shingled else 0,
            smr_cache_bytes=shingled.persistent_cache_bytes if shingled else 0,
            smr_cached_writes=shingled.cached_writes if shingled else 0,
            smr_idle_s=shingled.idle_s if shingled else 1.0,
        )

    def _read_segments(self) -> int:
        """Return how many stretches of twice the read-ahead the part of the buffer for reads holds."""
        ahead = int(self._si("read_ahead"))
        if ahead == 0:
            return 0
        free = int(self._si("cache")) - int(self._si("write_cache"))
        return max(1, min(MAX_SEGMENTS, free // (2 * ahead)))

    def _flash_parameters(self, rate: float, overhead: float) -> DriveParameters:
        latency, own = self._si("read_latency") * overhead, self.flash()
        assert own is not None
        return DriveParameters(
            capacity_bytes=self.capacity_bytes,
            kind="flash",
            revolution_s=0.0,
            queue_depth=int(self._si("queue_depth")),
            queue_policy=self.queue_policy,
            interface_rate=self._si("interface_rate"),
            physical_sector_bytes=int(self._si("physical_sector")),
            logical_sector_bytes=int(self._si("logical_sector")),
            parallel_commands=int(self._si("parallel_commands")),
            flash_latency_min_s=latency,
            flash_latency_max_s=latency,
            flash_read_rate=own.read_rate * rate,
            flash_write_latency_s=own.write_latency_s * overhead,
            flash_write_rate=own.write_rate * rate,
            flash_shares_rate=True,
            slc_cache_bytes=own.slc_cache_bytes,
            slc_rate_after=own.write_rate_after_cache * rate,
            rotating=False,
        )


def _with_factors(
    drive: DriveParameters, outer_rate: float, inner_ratio: float, seek: float, overhead: float
) -> DriveParameters:
    """Return measured parameters with the factors of an ensemble; the ratio acts gradually inwards."""
    last = max(len(drive.zone_rates) - 1, 1)
    rates = tuple(
        rate * outer_rate * (1.0 + (inner_ratio - 1.0) * place / last)
        for place, rate in enumerate(drive.zone_rates)
    )
    return replace(
        drive,
        zone_rates=rates,
        seek_short_a_s=drive.seek_short_a_s * seek,
        seek_short_b_s=drive.seek_short_b_s * seek,
        seek_long_c_s=drive.seek_long_c_s * seek,
        seek_long_e_s=drive.seek_long_e_s * seek,
        write_settle_s=drive.write_settle_s * seek,
        read_overhead_s=drive.read_overhead_s * overhead,
        write_overhead_s=drive.write_overhead_s * overhead,
    )


def zone_rates(outer_rate: float, inner_ratio: float, zones: int) -> tuple[float, ...]:
    """Return the media rate by zone under the square-root law, outermost first [bytes/s].

    At the fraction x of the capacity the rate is ``outer * sqrt(1 - x * (1 - k**2))`` (constant linear
    density and track pitch); a zone has the harmonic mean over its width, so that reading the whole takes
    as long as under the smooth law.

    Parameters
    ----------
    outer_rate : float
        At the first byte [bytes/s].
    inner_ratio : float
        k, inner over outer rate.
    zones : int
        At most `MAX_ZONES`.
    """
    loss = 1.0 - inner_ratio**2
    if loss < 1e-9:
        return (outer_rate,) * zones

    def seconds_to(x: float) -> float:
        return 2.0 * (1.0 - math.sqrt(1.0 - x * loss)) / (loss * outer_rate)

    times = [seconds_to((index + 1) / zones) - seconds_to(index / zones) for index in range(zones)]
    return tuple(1.0 / zones / seconds for seconds in times)


def seek_curve(track: float, average: float, full: float, knee: float) -> tuple[float, float, float, float]:
    """Return the two-piece seek curve (Ruemmler & Wilkes, 1994) through three published figures.

    ``a + b*sqrt(d)`` below the knee and ``c + e*d`` above it meet at the knee; one track costs `track`, the
    full stroke `full`, and the mean over random pairs (density ``2*(1-d)``, the vendors' definition) is
    `average`.

    Parameters
    ----------
    track, average, full : float
        [s]
    knee : float
        [fraction of the stroke]

    Returns
    -------
    a, b, c, e : float
        [s]

    Raises
    ------
    InputError
        When no rising curve passes through the figures.
    """
    # Mean over the short branch of 1, sqrt(d), and over the long branch of 1, d, under the density 2*(1-d).
    root = 2.0 * (knee**1.5 / 1.5 - knee**2.5 / 2.5)
    short = 2.0 * knee - knee**2
    line = 1.0 / 3.0 - knee**2 + 2.0 * knee**3 / 3.0
    # With c = full - e and continuity, b*sqrt(knee) = full - track - e*(1 - knee).
    reach = (full - track) / math.sqrt(knee)
    slope = (1.0 - knee) / math.sqrt(knee)
    constant = track * short + reach * root + full * (1.0 - short)
    e = (constant - average) / (slope * root + (1.0 - short) - line)
    b = reach - slope * e
    if not (0 <= track < average < full) or b <= 0 or e < 0:
        figures = f"{track * 1e3:.3g}, {average * 1e3:.3g}, {full * 1e3:.3g} ms"
        reason = (
            "track, average and full-stroke seek rise, the average lying at about half of the full stroke"
        )
        raise InputError("seek_track, seek_average, seek_full", figures, reason, "put the seek figures right")
    return track, b, full - e, e


def _scaled(quantity: DriveQuantity, factor: float) -> DriveQuantity:
    if factor == 1.0:
        return quantity
    value = quantity.value * factor
    if quantity.unit == "B":
        value = round(value)
    return replace(
        quantity, value=value, si=quantity.si * factor, kind="derived", note="scaled to capacity and time"
    )
