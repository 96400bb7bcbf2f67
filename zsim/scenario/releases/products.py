"""Products: which release each ships, and the tunables that it sets, some at hours of the day only.

The products are the versions in the files of ``models/products``: ``truenas-25.10`` is the version 25.10 of
``truenas.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.parsed import table
from zsim.scenario.parts import Hours
from zsim.scenario.releases.profile import DEFAULT_RELEASE, ReleaseProfile, load_release
from zsim.scenario.releases.renamed import sysctl_name

Values = Mapping[str, int | float | str]
_TIMED = re.compile(r"(\S+)\s+(\S.*-.*)", re.DOTALL)


class Timed(NamedTuple):
    """Tunables that are set at some hours only, by the release's own names."""

    hours: Hours
    values: tuple[tuple[str, int | float | str], ...]


class Settings(NamedTuple):
    """Tunables set otherwise than the release does: always, and at some hours."""

    always: dict[str, int | float | str]
    timed: tuple[Timed, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """What a product makes of ZFS.

    Attributes
    ----------
    name, title : str
        For example ``truenas-25.10``, ``TrueNAS 25.10``.
    family : str
        Its file in models/products.
    release : str
        The ZFS that it ships.
    why : str
        What sets the tunables.
    sysctl : bool
        Whether tunables have the names of FreeBSD.
    hours : Hours or None
        When `within` holds.
    within, otherwise : mapping of str to int
        Tunables, by the release's own names.
    """

    name: str
    title: str
    family: str
    release: str
    why: str
    sysctl: bool
    hours: Hours | None
    within: Mapping[str, int]
    otherwise: Mapping[str, int]

    def words(self, stated: Container[str] = ()) -> str:
        """Return its tunables as a person reads them, but for those that are stated."""
        if self.hours is None:
            return "those of the release"
        within, otherwise = (self._listed(each, stated) for each in (self.within, self.otherwise))
        return f"{within} at {self.hours}, else {otherwise}" if within else "as stated"

    def _listed(self, values: Mapping[str, int], stated: Container[str]) -> str:
        return ", ".join(
            f"{sysctl_name(name) if self.sysctl else name}={value}"
            for name, value in values.items()
            if name not in stated
        )


FREEBSD_KERNEL = "freebsd-10.3"
"""A release that says how often the kernel of FreeBSD ticks."""


def product_names() -> tuple[str, ...]:
    """Return the names of all products."""
    return tuple(
        f"{family}-{version}"
        for family in model_data.names("products")
        for version in table(model_data.load("products", family), "versions")
    )


def load_product(name: str) -> Product:
    """Return a product.

    Raises
    ------
    InputError
        Naming those known, when there is no such product.

    Examples
    --------
    >>> load_product("truenas-25.10").release
    'openzfs-2.3.4'
    """
    wanted = name.strip().lower()
    if wanted not in product_names():
        known = ", ".join(product_names())
        raise InputError("product", name, f"known are {known}", "or state release and tunables instead")
    family, _, version = wanted.rpartition("-")
    path = model_data.find("products", family, "product")
    data = model_data.load_toml(path, "product")
    here = table(table(data, "versions"), version)
    title = model_data.text_of(data, "title", path)
    hours = Hours.parse(model_data.text_of(data, "hours.choice", path)) if "hours" in data else None
    return Product(
        name=wanted,
        title=f"{title} {version}",
        family=family,
        release=model_data.text_of(here, "release.choice", path),
        why=model_data.text_of(data, "why", path),
        sysctl=model_data.text_of(data, "names.choice", path) == "sysctl",
        hours=hours,
        within=_numbers(data, "within", path) | _numbers(here, "within", path),
        otherwise=_numbers(data, "otherwise", path) | _numbers(here, "otherwise", path),
    )


def _numbers(data: Mapping[str, object], name: str, path: Path) -> dict[str, int]:
    keys = table(data, name) if name in data else {}
    return {key: int(model_data.quantity_of(data, f"{name}.{key}", path).value) for key in keys}


class Shipped(NamedTuple):
    """A release as it ships, and what is set otherwise: by its product, and by hand.

    Attributes
    ----------
    release : ReleaseProfile
        With its own tunables.
    product : Product or None
    words : str
        What the product sets, as a person reads it, but for what is stated.
    settings : Settings
    """

    release: ReleaseProfile
    product: Product | None
    words: str
    settings: Settings

    def tuned(self, order: str | None, hz: int | None, platform: str | None = None) -> ReleaseProfile:
        """Return the release with the tunables that always hold, the order of its scan, and its ticks."""
        always = dict(self.settings.always)
        if order == "legacy" and self.release.scan == "sorted":
            always["zfs_scan_legacy"] = 1
        profile = self.release.with_tunables(always) if always else self.release
        if system_of(platform, self.product, profile) == "freebsd" and profile.family != "freebsd":
            kernel = load_release(FREEBSD_KERNEL)
            profile = replace(profile, hz=kernel.hz, details_of_hz=kernel.details_of_hz)
        return profile if hz is None else replace(profile, hz=hz)


def system_of(platform: str | None, product: Product | None, release: ReleaseProfile) -> str:
    """Return the operating system under ZFS: as stated, that of the product, or of the release.

    Parameters
    ----------
    platform : str or None
        What is stated.
    product : Product or None
    release : ReleaseProfile
        Those of FreeBSD and Solaris themselves run there; OpenZFS is taken to run on Linux.

    Returns
    -------
    {"linux", "freebsd", "illumos"}

    Examples
    --------
    >>> system_of(None, None, load_release("freebsd-9.2")), system_of(None, None, load_release("openzfs-2.2"))
    ('freebsd', 'linux')
    """
    if platform is not None:
        return platform
    if product is not None:
        return "freebsd" if product.sysctl else "linux"
    return {"freebsd": "freebsd", "solaris": "illumos"}.get(release.family, "linux")


def shipped(release: str | None, product: str | None, stated: Values | None) -> Shipped:
    """Return what a scenario says of the release, its product and its tunables, each looked up once.

    Raises
    ------
    InputError
        When one of them is not known, or the product ships another series than the one stated.
    """
    sold = load_product(product) if product is not None else None
    profile = _release_of(release, sold)
    names = {profile.tunable_name(name) for name in stated or ()} if sold is not None else set()
    words = sold.words(names) if sold is not None else ""
    return Shipped(profile, sold, words, settings(profile, sold, stated))


def _release_of(release: str | None, sold: Product | None) -> ReleaseProfile:
    """Return the release of a scenario: as stated, of its product, or the default."""
    if sold is None:
        return load_release(release or DEFAULT_RELEASE)
    its = load_release(sold.release)
    if release is None:
        return its
    stated = load_release(release)
    if stated.series != its.series:
        raise InputError("release", release, f"{sold.title} ships {its.name}", "leave one of the two out")
    return stated


def settings(release: ReleaseProfile, sold: Product | None, stated: Values | None) -> Settings:
    """Return the tunables of a product, and over them those that are stated: ``8``, or ``8 22:00-06:00``.

    A tunable that is stated holds at the product's hours, too.

    Raises
    ------
    InputError
        When the release does not know one, or a value or its hours cannot be read.

    Examples
    --------
    >>> found = settings(load_release("openzfs-2.3"), None, {"zfs_vdev_scrub_max_active": "8 22:00-06:00"})
    >>> found.always, str(found.timed[0].hours), found.timed[0].values
    ({}, '22:00-06:00', (('zfs_vdev_scrub_max_active', '8'),))
    """
    always: dict[str, int | float | str] = {}
    timed: list[Timed] = []
    if sold is not None:
        always |= sold.otherwise
        timed += [Timed(sold.hours, tuple(sold.within.items()))] if sold.hours is not None else []
    for given, value in (stated or {}).items():
        name = release.tunable_name(given)
        timed = list(without(timed, name))
        found = _TIMED.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None:
            always[name] = value
        else:
            timed.append(Timed(_hours_of(given, found[2]), ((name, found[1]),)))
    for each in timed:
        release.with_tunables(dict(each.values))
    return Settings(always, tuple(timed))


def _hours_of(name: str, text: str) -> Hours:
    if name == "zfs_scan_legacy":
        raise InputError("tunable zfs_scan_legacy", text, "a scan keeps its order", "give it without hours")
    return Hours.parse(text, f"tunable {name}")


def without(timed: tuple[Timed, ...] | list[Timed], name: str) -> tuple[Timed, ...]:
    """Return tunables with hours but for one."""
    kept = (Timed(each.hours, tuple(pair for pair in each.values if pair[0] != name)) for each in timed)
    return tuple(each for each in kept if each.values)
