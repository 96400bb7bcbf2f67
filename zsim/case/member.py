"""One possible world of a case: the value drawn for each of its unknowns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Factors:
    """How the drives of one world differ from their models: factors on their numbers.

    Attributes
    ----------
    outer_rate, inner_ratio, seek, overhead : float
        See `zsim.drives.models.model.DriveModel.parameters`; of all drives.
    new_rate : float
        Rate of the new drive relative to its model's.
    host : float
        Rate of what SATA solid-state drives of unknown attachment share; of other flash how fast the threads
        of a scan are.
    """

    outer_rate: float = 1.0
    inner_ratio: float = 1.0
    seek: float = 1.0
    overhead: float = 1.0
    new_rate: float = 1.0
    host: float = 1.0


@dataclass(frozen=True, slots=True)
class Member:
    """One possible world; `zsim.case.worlds.in_world` gives the case as it is in it.

    Attributes
    ----------
    factors : Factors
        Of the drives.
    churn : float
        Factor on the ageing of the pool.
    file_size : float
        Factor on the size of its files.
    history : str or None
        What is on the pool, one of the case's `candidates`; None: as assumed.
    write_cache : bool or None
        Whether the drives' write caches are on; None: as assumed.
    load : float or None
        Foreground reads a second and drive; None: as stated, or none.
    drive : str or None
        Generic drive of a pool whose drives are not named, one of the case's `candidates`; None: as assumed.
    fill : float or None
        Fill of a pool of which it is not stated; None: as assumed.
    drive_size : int or None
        Capacity of drives of which neither name nor capacity is stated [bytes]; None: as stated.
    ashift : int or None
        Sector size of a pool on disks of 4 KiB sectors under a ZFS that takes the logical sector; None: as
        assumed.
    memory : int or None
        Main memory of a host of which nobody says it [bytes]; None: as stated, or enough.
    shingling : float
        Factor on what a shingled drive spends on rewriting its bands.
    scores : tuple of float
        Standard normal score of each unknown, in their order.
    """

    factors: Factors = field(default_factory=Factors)
    churn: float = 1.0
    file_size: float = 1.0
    history: str | None = None
    write_cache: bool | None = None
    load: float | None = None
    drive: str | None = None
    fill: float | None = None
    drive_size: int | None = None
    ashift: int | None = None
    memory: int | None = None
    shingling: float = 1.0
    scores: tuple[float, ...] = ()
