"""Which drives the pool has: model, capacity, write cache and links, from their names and from lists."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from zsim.base.units import format_both
from zsim.drives.catalogue import load_drive
from zsim.drives.names import NVME, SATA_FLASH, SHINGLED, SLOW
from zsim.observe.devices.asking import drives_command
from zsim.observe.devices.identity import Identity, Inventory
from zsim.observe.devices.labels import FLASH_VENDORS, device_of, label_of
from zsim.observe.devices.models import Model, model_of, slowest_of
from zsim.observe.devices.sentences import SaidDrives
from zsim.observe.devices.usual_sizes import usual_bytes
from zsim.observe.evidence.activity import Samples
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.texts import plain
from zsim.observe.zpool.commands import short
from zsim.observe.zpool.vdev_tree import GONE, PAIRS, Vdev, repaired_pair
from zsim.scenario.layout import Layout
from zsim.vdevs.kind import kinds

SAME_SIZE = 0.03
FASTEST_DISK, FASTEST_SATA = 320e6, 600e6
"""No disk with one actuator reads faster (Seagate Exos X24, datasheet DS2114: 285 MB/s), and nothing behind
SATA 3 (8b/10b) [bytes/s]."""
SAID = "a sentence beside the outputs"
MOST_NAMED = 4
NVME_NAME = re.compile(r"nvme[-\d]|nvd\d|nda\d", re.ASCII)
"""The begin of names of NVMe namespaces, which nothing else has (nvme(4), nda(4), nvd(4)), and of udev's:
``nvme-MODEL_SERIAL``, ``nvme-eui.0025...``."""
MAPPED_NAME = re.compile(r"(?:dm[-_]|luks[-_]|crypt|mapper)", re.ASCII)
"""The begin of names of the device mapper that tell nothing of the drive below."""
_WAS = re.compile(r"\bwas (/\S{3,300})")


@dataclass(frozen=True, slots=True)
class PoolDrives:
    """Names of the drives of a pool: those it has, those that are to replace others; how many are gone.

    `lost` are the names of those that are.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    gone: int = 0
    lost: frozenset[str] = frozenset()

    @property
    def are_nvme(self) -> bool:
        """Whether the names are those of NVMe namespaces, all that tell anything."""
        names = [device_of(name) for name in self.old]
        telling = [name for name in names if not MAPPED_NAME.match(name)]
        return bool(telling) and all(NVME_NAME.match(name) for name in telling)


def drives_of(tops: Sequence[Vdev]) -> PoolDrives:
    """Return the names of a pool's drives; of a drive that is gone, the one it was known by."""
    new = [pair.children[-1] for top in tops for pair in _pairs(top)]
    old = [leaf for top in tops for leaf in top.leaves() if leaf.kind == "disk" and leaf not in new]
    return PoolDrives(
        tuple(map(_name, old)),
        tuple(leaf.name for leaf in new if leaf.kind == "disk"),
        sum(leaf.state in GONE for leaf in old),
        frozenset(_name(leaf) for leaf in old if leaf.state in GONE),
    )


def _with_attached(drives: PoolDrives, tops: Sequence[Vdev], inventory: Inventory) -> PoolDrives:
    """Return the drives with those that are resilvered without an old one beside them as new ones.

    Of another model than all others it is attached, or put in the place of one; else it was away.
    """
    alone = {leaf.name for top in tops for leaf in top.leaves() if leaf.resilvering} - {*drives.new}
    old = tuple(name for name in drives.old if name not in alone)
    models = [
        {each.model for name in names if (each := inventory.of(name)) is not None and each.model}
        for names in (alone, old)
    ]
    as_nvme = bool(alone and old) and _nvme_named(alone) and not any(map(_is_nvme, old))
    if not as_nvme and (not all(models) or models[0] & models[1]):
        return drives
    return replace(drives, old=old, new=(*drives.new, *(name for name in drives.old if name in alone)))


def _with_ordered(drives: PoolDrives, outputs: PoolOutputs) -> PoolDrives:
    """Return the drives with a new one that ``zpool replace`` beside a status names and it does not show."""
    commands = outputs.status.commands if outputs.status is not None and not drives.new else ()
    shown = {*map(short, drives.old)}
    last = next((each for each in reversed(commands) if each.verb == "replace" and len(each.words) > 1), None)
    if last is None or short(last.words[1]) in shown:
        return drives
    return replace(drives, new=(last.words[1],))


def _is_nvme(name: str) -> bool:
    return NVME_NAME.match(device_of(name)) is not None


def _nvme_named(names: Iterable[str]) -> bool:
    """Tell whether all names are those of NVMe namespaces."""
    names = list(names)
    return bool(names) and all(map(_is_nvme, names))


def _pairs(vdev: Vdev) -> Iterator[Vdev]:
    """Yield the pairs of an old drive and its successor, also where a spare is itself being replaced."""
    for each in (vdev, *vdev.children):
        if each.kind in PAIRS and each.drives > 1:
            yield repaired_pair(each)


def _name(leaf: Vdev) -> str:
    was = _WAS.search(leaf.note)
    return was[1] if was and leaf.name.isdigit() else leaf.name


def shown_tops(outputs: PoolOutputs) -> list[Vdev]:
    """Return the top-level vdevs that show how the drives are called."""
    if outputs.status is not None and outputs.status.vdevs:
        return list(outputs.status.vdevs)
    listed = [vdev for vdev, _ in outputs.listed.vdevs] if outputs.listed is not None else []
    listed = listed or (list(outputs.config.vdevs) if outputs.config is not None else [])
    return listed or (list(outputs.built.vdevs) if outputs.built is not None else [])


def _larger_drives(tops: Sequence[Vdev], inventory: Inventory) -> dict[str, Model]:
    """Return the drives that are larger, by their names, than the smallest that their vdev ever had.

    Those that are written now, or gone, are left out: on the others data lie on the first part alone.
    """
    found: dict[str, Model] = {}
    new = {*_with_attached(drives_of(tops), tops, inventory).new}
    for top in tops:
        models = {leaf: model for leaf in top.leaves() if (model := _model_of(leaf, inventory)) is not None}
        sizes = {leaf: model.size for leaf, model in models.items() if model.size and leaf.name not in new}
        least = min(sizes.values(), default=0)
        found |= {
            leaf.name: models[leaf]
            for leaf, size in sizes.items()
            if size > least * (1 + SAME_SIZE) and leaf.state not in GONE and not leaf.resilvering
        }
    return found


def gone_from_mirror(tops: Sequence[Vdev], inventory: Inventory) -> str:
    """Return the name of a drive that has left a mirror whose other drives are all of another model; or "".

    A scan that ended before went as fast as the slower of the two, which may have been that one.
    """
    for top in tops:
        models = [(leaf, model) for leaf in top.leaves() if (model := _model_of(leaf, inventory)) is not None]
        left = [model for leaf, model in models if leaf.state not in GONE]
        for leaf, model in models:
            alike = any(model.generic == each.generic and _same_size(model, each) for each in left)
            if _is_copied(top) and leaf.state in GONE and left and not alike:
                return leaf.name
    return ""


def _is_copied(top: Vdev) -> bool:
    return top.kind in kinds() and kinds()[top.kind].is_replicated


def _same_size(first: Model, second: Model) -> bool:
    return bool(first.size and second.size) and abs((first.size or 0) / (second.size or 1) - 1) <= SAME_SIZE


def _model_of(leaf: Vdev, inventory: Inventory) -> Model | None:
    identity = inventory.of(_name(leaf)) if leaf.kind == "disk" else None
    return None if identity is None else model_named(identity)


def find_drives(outputs: PoolOutputs) -> None:
    """Note the drive, what its capacity is by name, the one that replaces, write cache; tell of links."""
    tops, inventory = shown_tops(outputs), outputs.files.inventory()
    drives = _with_ordered(_with_attached(drives_of(tops), tops, inventory), outputs)
    known = [identity for name in drives.old if (identity := inventory.of(name)) is not None]
    lost = [identity for name in drives.lost if (identity := inventory.of(name)) is not None]
    outputs.larger = _larger_drives(tops, inventory)
    source = _source(known)
    if not any(each.model for each in known) and (counted := _by_number(outputs, drives)):
        known, source = counted, "that many drives of the host are of this model"
    models = _models_of(known)
    if not models and (said := _said(outputs, count := _count(outputs, drives))) is not None:
        models, source = (said,) * count, SAID
    if models:
        if not _others_differ(outputs, drives, models):
            _find_old(outputs, models, source, len(drives.old), _models_of(lost))
    elif drives.are_nvme:
        outputs.find("drive", "generic-nvme-ssd", "names of the devices", inferred=True)
    elif any(vendors := {label_of(name).vendor for name in drives.old}):
        outputs.notes.append(
            f"the names of the drives show only the vendor ({', '.join(sorted(vendors - {''}))}):"
            f" add the output of {drives_command(drives.old)}"
        )
        if vendors <= set(FLASH_VENDORS):
            source = "World Wide Names of a vendor of solid-state drives"
            outputs.find("drive", "generic-sata-ssd", source, inferred=True)
    if outputs.value("drive") is None:
        _find_by_rates(outputs, drives)
    _find_new(outputs, drives)
    present = [each for name in (*drives.old, *drives.new) if (each := inventory.of(name)) is not None]
    _find_write_cache(outputs, present or list(known))
    _tell_links(outputs, present or list(known))
    _find_recovery(outputs, present or list(known))


def _find_by_rates(outputs: PoolOutputs, drives: PoolDrives) -> None:
    """Note that drives of which nothing else is known are no disks, by how fast one of them was read."""
    rows = (row for table in outputs.files.of(Samples) if table.usable for row in table.means())
    rates = [(row.read_rate or 0.0, row.source) for row in rows if row.drive in drives.old]
    rate, source = max(rates, default=(0.0, ""))
    if rate > FASTEST_DISK:
        kind = SATA_FLASH if rate <= FASTEST_SATA else NVME
        outputs.find("drive", kind, f"{source}: {rate / 1e6:.0f} MB/s of one drive", inferred=True)


def _models_of(known: Sequence[Identity]) -> tuple[Model, ...]:
    """Return the models of drives, as far as their names tell a model or a size."""
    return tuple(model for each in known if (model := model_named(each)).drive or model.size)


def model_named(identity: Identity) -> Model:
    """Return the model of a drive that tells about itself."""
    size = identity.size
    if size is not None and identity.rounded:
        size = usual_bytes(size)
    rpm = identity.rpm or None
    flash = True if identity.rpm == 0 else False if rpm else None
    nvme = identity.nvme or NVME_NAME.match(identity.device) is not None
    found = model_of(identity.model, None if identity.rounded else size, rpm, flash, nvme=nvme)
    if found.size is not None or size is None:
        return found
    return model_of(identity.model, size, rpm, flash, nvme=nvme)


def _said(outputs: PoolOutputs, count: int) -> Model | None:
    """Return the one model that sentences name, of as many drives as the pool has where they count."""
    said = outputs.files.of(SaidDrives)
    fitting = [each.model for each in said if each.count in (None, count)]
    if not fitting or len({(model.drive, model.size) for model in fitting}) > 1:
        return None
    outputs.notes.append(f"the drives are those that the text names: {plain(fitting[0].name)}")
    return fitting[0]


def _count(outputs: PoolOutputs, drives: PoolDrives) -> int:
    """Return how many drives the pool has: those shown, else those of the layout that is taken."""
    layout = outputs.text("layout")
    return len(drives.old) or (sum(vdev.children for vdev in Layout.parse(layout).data) if layout else 0)


def _source(known: Sequence[Identity]) -> str:
    named = [each for each in known if each.model] or known
    sources = list(dict.fromkeys(each.source for each in named))
    words = ["names of the drives" if each == "its name" else each for each in sources]
    return " and ".join(words[:3])


def _by_number(outputs: PoolOutputs, drives: PoolDrives) -> list[Identity]:
    """Return the drives of the one model that the host has enough of, where no name leads to any."""
    listed = [each for each in outputs.files.inventory().drives if each.model]
    if drives.are_nvme:
        listed = [each for each in listed if each.nvme or NVME_NAME.match(each.device)]
    counts = Counter(each.model for each in listed)
    if not drives.old or not counts:
        return []
    model, count = counts.most_common(1)[0]
    # A drive that is gone is listed no more; with fewer to go by only one model may have enough.
    present = max(1, len(drives.old) - drives.gone)
    rivals = [each for each in counts.values() if each >= (present if drives.gone else count)]
    if count < present or len(rivals) > 1:
        outputs.notes.append("which of the drives that are listed belong to the pool is not known")
        return []
    return [each for each in listed if each.model == model][: len(drives.old)]


def _others_differ(outputs: PoolOutputs, drives: PoolDrives, models: tuple[Model, ...]) -> bool:
    """Tell whether most drives are unnamed and no solid-state drives as the few that are named; say so."""
    vendors = {label_of(name).vendor for name in drives.old} - {"", *FLASH_VENDORS}
    flash = all(model.generic in (SATA_FLASH, NVME) for model in models)
    if not (flash and vendors and 2 * len(models) < len(drives.old)):
        return False
    outputs.notes.append(
        f"{len(models)} of {len(drives.old)} drives are named ({plain(models[0].name)}), the others are of"
        f" another vendor ({', '.join(sorted(vendors))}), and their model is not known: add the output of"
        f" {drives_command(drives.old)}"
    )
    return True


def _find_old(
    outputs: PoolOutputs, models: tuple[Model, ...], source: str, count: int, lost: tuple[Model, ...]
) -> None:
    """Note the drive that is simulated: of those that are there, as a drive that is gone is not read.

    The space of a vdev is that of the smallest it ever had, gone or not.  Drives in vdevs of smaller ones are
    noted on their own.
    """
    inferred = "of this model" in source or source == SAID
    there = Counter(models)
    there.subtract(lost)
    present = tuple(there.elements()) or models
    read = _read_alone(present)
    others = Counter(present)
    others.subtract(outputs.larger.values())
    chosen = _chosen(_read_alone(tuple(others.elements())) or read)
    if chosen.drive is not None:
        what = chosen.name if chosen.known else f"{chosen.name}, by its series"
        outputs.find("drive", chosen.drive, f"{what}: {source}", inferred=inferred or not chosen.known)
    sizes = [model.size for model in models if model.size]
    outputs.named_size = min(sizes) if sizes else None
    outputs.named_sizes = tuple(sorted(set(sizes)))
    outputs.named_source = source
    _note_several(outputs, present, chosen)
    if read != present:
        outputs.notes.append(
            "the shingled ones (SMR) are only read here, and count as disks of 5400 rpm; if the replacement"
            f" is shingled too, state --new-drive {SHINGLED}"
        )
    if len(models) < count:
        outputs.notes.append(
            f"{len(models)} of {count} drives are named: the others are assumed to be the same"
        )


def _note_several(outputs: PoolOutputs, present: Sequence[Model], chosen: Model) -> None:
    """Say which model stands for drives of several models or sizes."""
    counts = Counter((model.drive, model.name) for model in present)
    sizes = [model.size for model in present if model.size]
    mixed = bool(sizes) and max(sizes) > min(sizes) * (1 + SAME_SIZE)
    if len({drive for drive, _ in counts}) > 1 or mixed:
        listed = ", ".join(f"{number} x {name}" for (_, name), number in counts.most_common(MOST_NAMED))
        more = ", ..." if len(counts) > MOST_NAMED else ""
        taken = _taken(chosen, mixed, bool(outputs.larger))
        outputs.notes.append(f"the drives are of several models ({plain(listed, 200)}{more}): {taken}")


def _taken(chosen: Model, mixed: bool, larger: bool) -> str:
    """Return what is said of the model that stands for several; `larger` ones are in vdevs of smaller."""
    name = chosen.drive or chosen.name
    if larger:
        return (
            f"{name} is used for the smallest of each vdev; of those that are larger only the first part is"
            " used until all are"
        )
    size = " and, within a vdev, the smallest size" if mixed else ""
    return f"{name}{size} is used for all, because a stripe waits for its slowest drive"


def _read_alone(models: tuple[Model, ...]) -> tuple[Model, ...]:
    """Return the models with shingled ones as plain disks, where they are the fewer and only read.

    What makes a shingled drive slow is writing; what replaces another is likelier one like the most.
    """
    shingled = [model.generic == SHINGLED for model in models]
    if not any(shingled) or 2 * sum(shingled) >= len(models):
        return models
    return tuple(
        replace(model, drive=SLOW, known=False, generic=SLOW) if smr else model
        for model, smr in zip(models, shingled, strict=True)
    )


def _chosen(models: tuple[Model, ...]) -> Model:
    """Return the model that is simulated: of the slowest class the one there are most of."""
    slowest = slowest_of(models)
    among = [model for model in models if slowest is None or model.generic == slowest] or list(models)
    counts = Counter(model.drive for model in among)
    drive = counts.most_common(1)[0][0]
    return next(model for model in among if model.drive == drive)


def _find_new(outputs: PoolOutputs, drives: PoolDrives) -> None:
    """Note the drive that replaces, where its name tells another model than the old one's."""
    scrub = outputs.value("operation") == "scrub"
    if scrub or outputs.value("target") is not None or not drives.new:
        return
    inventory = outputs.files.inventory()
    known = [each for name in drives.new if (each := inventory.of(name)) is not None]
    models = _models_of(known)
    if not models:
        if _nvme_named(drives.new) and outputs.text("drive") != NVME:
            outputs.find("new_drive", NVME, "names of the devices", inferred=True)
        return
    chosen = _chosen(models)
    old, old_size = outputs.text("drive"), outputs.named_size
    source = f"{chosen.name}: {_source(known)}"
    size = min((model.size for model in models if model.size), default=None)
    if size is not None and old_size is not None and size < old_size * (1 - SAME_SIZE):
        outputs.notes.append(
            f"the replacement drive {plain(chosen.name)} is by its name smaller than the drives of the pool:"
            " its size is ignored"
        )
        size = None
    if chosen.drive is not None and chosen.drive != old:
        outputs.find("new_drive", chosen.drive, source, inferred=not chosen.known)
    if size is not None:
        outputs.new_named_size = size
        outputs.new_named_source = source


def _find_write_cache(outputs: PoolOutputs, known: Sequence[Identity]) -> None:
    states = [(each.write_cache, each.source) for each in known if each.write_cache is not None]
    if not states:
        _find_cache_of_all(outputs)
        return
    on = sum(bool(state) for state, _ in states)
    if on not in (0, len(states)):
        outputs.notes.append(
            f"the write cache is on in {on} of {len(states)} drives:"
            f" {'on' if 2 * on > len(states) else 'off'} is used for all"
        )
    outputs.find("write_cache", 2 * on > len(states), states[0][1])


def _find_cache_of_all(outputs: PoolOutputs) -> None:
    """Note the write cache where no name leads to a drive and all that are listed have it alike."""
    told = [
        each for each in outputs.files.inventory().drives if each.write_cache is not None and not each.model
    ]
    if len(told) > 1 and len({each.write_cache for each in told}) == 1:
        outputs.find(
            "write_cache", told[0].write_cache, f"{told[0].source}: all drives listed", inferred=True
        )


def _find_recovery(outputs: PoolOutputs, known: Sequence[Identity]) -> None:
    """Note how long drives try to read a bad sector: the one that tries longest holds all others up."""
    limits = [(each.recovery, each.source) for each in known if each.recovery is not None]
    if limits:
        longest, source = max(limits, key=lambda each: each[0] or math.inf)
        outputs.find("erc", f"{longest:g}s" if longest else "none", source)


def _tell_links(outputs: PoolOutputs, known: Sequence[Identity]) -> None:
    """Tell of drives whose link is slower than they could have it."""
    slow = [each for each in known if each.link and each.link_limit and each.link < each.link_limit]
    for each in slow[:MOST_NAMED]:
        rate = (each.link or 0) * 100
        outputs.notes.append(
            f"{plain(each.device or each.serial or each.model)} is linked at {each.link:g} of"
            f" {each.link_limit:g} Gb/s, which carries {rate:.0f} MB/s at most: the simulation takes the full"
            " speed, so look at its cable and port"
        )


def find_sizes(outputs: PoolOutputs, size: int | None) -> int | None:
    """Return the capacity of the drives by name where it agrees with what the pool's size gives.

    Parameters
    ----------
    outputs : PoolOutputs
    size : int or None
        Capacity that the space of the pool gives [bytes].
    """
    named = outputs.named_size
    if named is None or size is None:
        return named
    if abs(named / size - 1) < SAME_SIZE:
        return named
    outputs.notes.append(
        f"the drives have {format_both(named)} by their names, and the size of the pool shows"
        f" {format_both(size)}: partitions or larger drives beside smaller ones; the size of the pool counts"
    )
    return None


def find_new_size(outputs: PoolOutputs) -> None:
    """Note the capacity of the new drive where its name tells it and it is larger than the old ones."""
    old = outputs.size("drive_size") or outputs.named_size
    size = outputs.new_named_size
    new_drive = outputs.text("new_drive")
    if size is None or old is None or outputs.size("new_drive_size") is not None:
        return
    if size > old * (1 + SAME_SIZE):
        outputs.find("new_drive_size", size, outputs.new_named_source)
    elif new_drive is not None:
        # The two are of one nominal size: ZFS takes no replacement that is smaller.
        model = load_drive(new_drive)
        if model.is_generic or model.capacity_bytes < old:
            outputs.find("new_drive_size", max(size, old), outputs.new_named_source)
