"""Vdevs that are not for data (special, dedup, log), caches, spares; data vdevs not equally full."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from zsim.base.errors import InputError
from zsim.observe.devices.models import slowest_of
from zsim.observe.pool_import.find_drives import model_named
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.texts import plain
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.vdev_tree import GONE, PAIRS, Vdev, spec_of
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.kind import DEDUP, LOG, SPECIAL, kind_of

CLASS_OF_SECTION = {"special": SPECIAL, "dedup": DEDUP, "logs": LOG, "log": LOG}
UNEQUAL = 0.05
"""Shares that data vdevs are full to are stated one by one where they differ by more."""
WHO_TELLS = ". zsim eta says when; zsim predict is about replacing a data drive"
LOG_ALONE = (
    "NO DATA: the drive that is resilvered is of a log vdev, of which a resilver copies nothing: it reads the"
    f" metadata of the pool, and is over{WHO_TELLS}"
)
DEDUP_ALONE = (
    "NO DATA: the drive that is resilvered is of a dedup vdev, of which only deduplication tables are copied"
    f"{WHO_TELLS}"
)
HOLD_NO_DATA = {
    "logs": "a resilver of it copies nothing, and is over in the time that reading the metadata takes",
    "cache": "it is added again (zpool remove, zpool add), and nothing is resilvered",
}
"""Sections of ``zpool status`` whose drives hold no blocks of the pool, and what mends them."""
NVME = re.compile(r"(?:/dev/)?(?:nvme|nvd|nda)", re.ASCII)


class ClassTops:
    """Top-level vdevs of other classes than data.

    Attributes
    ----------
    vdevs : list of Vdev
    specs : list of VdevSpec
        Special, dedup, log, in this order.
    spaces : list of Space or None
    cache, spares : int
        Drives.
    """

    def __init__(self, outputs: PoolOutputs) -> None:
        self.vdevs: list[Vdev] = []
        self.specs: list[VdevSpec] = []
        self.spaces: list[Space | None] = []
        found = _sections(outputs)
        for wanted in (SPECIAL, DEDUP, LOG):
            for vdev, space in found.get(wanted, ()):
                self._add(vdev, space, wanted, outputs)
        sections = outputs.status.sections if outputs.status is not None else {}
        caches = (sections.get("cache", ()), sections.get("l2cache", ()))
        self.cache = sum(len(list(vdev.leaves())) for vdevs in caches for vdev in vdevs)
        spares = sections.get("spares", ())
        self.spares = sum(vdev.kind != "distributed-spare" for vdev in spares)

    def _add(self, vdev: Vdev, space: Space | None, wanted: str, outputs: PoolOutputs) -> None:
        try:
            spec = spec_of(vdev, with_disks=True)
        except InputError:
            spec = None
        if spec is None or kind_of(spec.kind).has_groups:
            outputs.notes.append(f"the {wanted} vdev {plain(vdev.name)} is left out: its drives are unknown")
            return
        self.vdevs.append(vdev)
        self.specs.append(replace(spec, alloc_class=wanted))
        self.spaces.append(space)

    @property
    def special(self) -> list[int]:
        """Places of the special vdevs."""
        return [place for place, spec in enumerate(self.specs) if spec.alloc_class == SPECIAL]

    @property
    def drives(self) -> list[Vdev]:
        """Drives that decide: those of the special vdevs, of all where there are none."""
        vdevs = [self.vdevs[place] for place in self.special] or self.vdevs
        return [leaf for vdev in vdevs for leaf in vdev.leaves()]


def _sections(outputs: PoolOutputs) -> dict[str, list[tuple[Vdev, Space | None]]]:
    """Return the vdevs of each class, from the output that shows most, with their space where it is known."""
    listed = outputs.listed.classes if outputs.listed is not None else {}
    shown = outputs.status.sections if outputs.status is not None else {}
    found: dict[str, list[tuple[Vdev, Space | None]]] = {}
    for section, name in CLASS_OF_SECTION.items():
        rows = listed.get(section, ())
        vdevs: Sequence[Vdev] = shown.get(section, ()) or [vdev for vdev, _ in rows]
        # Up to 0.8 the list has no numbers in its names (mirror for mirror-2): the order tells.
        alike = [vdev.kind for vdev in vdevs] == [vdev.kind for vdev, _ in rows]
        by_name = {vdev.name: space for vdev, space in rows}
        spaces = [space for _, space in rows] if alike else [by_name.get(vdev.name) for vdev in vdevs]
        found.setdefault(name, []).extend(zip(vdevs, spaces, strict=True))
    config = outputs.config
    for name, vdev in config.classes if config is not None else ():
        if not shown and name in found and not listed:
            found[name].append((vdev, None))
    return found


def find_special_drive(outputs: PoolOutputs, tops: ClassTops) -> None:
    """Note what the drives of these vdevs are, as far as their names tell."""
    names = [leaf.name for leaf in tops.drives]
    inventory = outputs.files.inventory()
    known = [each for name in names if (each := inventory.of(name)) is not None and each.model]
    models = [model for each in known if (model := model_named(each)).drive]
    if models:
        slowest = slowest_of(tuple(models))
        chosen = next((each for each in models if each.generic == slowest), models[0])
        outputs.find(
            "special_drive", chosen.drive, f"{chosen.name}: {known[0].source}", inferred=not chosen.known
        )
    elif names and all(NVME.match(name) for name in names):
        outputs.find("special_drive", "generic-nvme-ssd", "names of the drives", inferred=True)


def find_special_size(outputs: PoolOutputs, tops: ClassTops) -> None:
    """Note the capacity of these drives by their names, where no list tells the size of their vdevs."""
    inventory = outputs.files.inventory()
    names = [leaf.name for leaf in tops.drives if leaf.state not in GONE]
    known = [each for name in names if (each := inventory.of(name)) is not None]
    sizes = [size for each in known if (size := model_named(each).size)]
    if sizes:
        outputs.find("special_drive_size", min(sizes), "names of the drives", inferred=True)


def find_special_repair(outputs: PoolOutputs, tops: ClassTops) -> None:
    """Note that a drive of a special vdev is replaced, where none of a data vdev is."""
    if outputs.value("replace") is not None or outputs.value("operation") == "scrub":
        return
    if outputs.status is not None and outputs.status.of_log_alone:
        outputs.notes.append(LOG_ALONE)
        return
    if outputs.status is not None and outputs.status.of_dedup_alone:
        outputs.notes.append(DEDUP_ALONE)
        return
    for place in tops.special:
        vdev, spec = tops.vdevs[place], tops.specs[place]
        pairs = [each for each in (vdev, *vdev.children) if each.kind in PAIRS and each.drives > 1]
        gone = sum(leaf.state in GONE for leaf in vdev.leaves())
        resilvering = sum(leaf.resilvering for leaf in vdev.leaves())
        count = min(max(len(pairs), resilvering, gone), max(1, spec.tolerance))
        if not (pairs or resilvering or gone):
            continue
        outputs.find("replace_in", SPECIAL, "zpool status")
        outputs.find("replace", count, "zpool status")
        online = pairs and pairs[0].children[0].state not in GONE
        outputs.find("old_drive", "online" if online else "missing", "zpool status")
        return
    _note_no_data(outputs)


def _note_no_data(outputs: PoolOutputs) -> None:
    """Tell of drives that have failed and hold nothing that a resilver copies: of logs and caches."""
    sections = outputs.status.sections if outputs.status is not None else {}
    for section, nothing in HOLD_NO_DATA.items():
        leaves = (leaf for vdev in sections.get(section, ()) for leaf in vdev.leaves())
        gone = [plain(leaf.name) for leaf in leaves if leaf.state in GONE]
        if gone:
            verb = "has" if len(gone) == 1 else "have"
            outputs.notes.append(
                f"{', '.join(gone[:3])} of {section} {verb} failed: {nothing}. What is predicted is the"
                " replacement of a data drive, of which none has"
            )


def find_fills(outputs: PoolOutputs, spaces: Sequence[Space]) -> bool:
    """Note how full each data vdev is, where they differ; tell whether it was noted."""
    fills = [
        space.alloc / space.size for space in spaces if space.alloc is not None and space.size is not None
    ]
    known = len(fills) == len(spaces) > 1 and all(0.0 < fill < 1.0 for fill in fills)
    if not known or max(fills) - min(fills) <= UNEQUAL:
        return False
    outputs.find("vdev_fills", [round(fill, 3) for fill in fills], "ALLOC and SIZE of zpool list -v")
    outputs.notes.append(
        "the data vdevs are not equally full: the emptier ones are assumed to have been added later"
    )
    return True
