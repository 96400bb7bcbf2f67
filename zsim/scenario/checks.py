"""Combinations of fields that are impossible, refused before anything is computed."""

from __future__ import annotations

from zsim.base.errors import InputError, NotSimulatedYet, is_unsafe
from zsim.base.units import format_both, format_bytes, format_bytes_exactly
from zsim.scenario.fields import Fields
from zsim.scenario.layout import MAX_CHILDREN, Layout, VdevSpec
from zsim.scenario.releases.products import shipped
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.scenario.releases.record_sizes import is_record_size, largest_record
from zsim.scenario.words import CAPACITIES
from zsim.vdevs.kind import CLASSES, DEDUP, FEWEST_TO_SIT_OUT, LOG, NORMAL, SPECIAL, kind_of, kinds

MIN_MEMORY = 64 << 20
"""Of which the ARC takes at most half, and no less than 32 MiB (arc.c:arc_init, arc_c_min)."""
MAX_DRIVE_BYTES = 10**15
"""Four times the largest drive announced so far, 245.76 TB (Kioxia LC9, July 2025)."""
_BEGINS = "say when it starts: --begins 'fri 17:30'"


def check_scenario(scenario: Fields) -> None:
    """Refuse a scenario whose statements contradict each other.

    Raises
    ------
    InputError
        Naming the field that has to change.
    """
    _check_texts(scenario)
    _check_classes(scenario, scenario.pool_layout)
    layout = scenario.led_layout
    found = shipped(scenario.release, scenario.product, scenario.tunables)
    release, tunables = found.release, found.settings
    _check_sizes(scenario)
    _check_fill(scenario)
    _check_records(scenario, release)
    _check_order(scenario, release)
    _check_operation(scenario, layout, release)
    _check_replacement(scenario, layout)
    _check_ports(scenario, layout)
    _check_sick(scenario, layout)
    _check_autosit(scenario, layout, release)
    _check_rewritten(scenario, layout)
    release.with_tunables(tunables.always)
    if scenario.begins is None and any(load.hours for load in scenario.load or ()):
        raise InputError("begins", None, "a load with hours needs it", _BEGINS)
    if scenario.begins is None and tunables.timed:
        whose = (
            f"{scenario.product} sets tunables by the hour" if scenario.product else "a tunable with hours"
        )
        raise InputError("begins", None, f"{whose}: the moment it begins is needed", _BEGINS)


def _check_sizes(scenario: Fields) -> None:
    for name in CAPACITIES:
        size = getattr(scenario, name)
        if size is not None and size > MAX_DRIVE_BYTES:
            allowed = f"there is no drive beyond {format_both(MAX_DRIVE_BYTES)}, nor rates for one"
            raise InputError(name, format_both(size), allowed, "give the capacity of one drive, such as 4TB")
    if scenario.memory is not None and scenario.memory < MIN_MEMORY:
        allowed = f"the ARC alone takes 32M, so ZFS needs {format_bytes(MIN_MEMORY)} or more"
        raise InputError("memory", format_bytes(scenario.memory), allowed, "give it with a unit, such as 16G")


def _check_texts(scenario: Fields) -> None:
    """Refuse names with controls or marks of writing direction: they would reach terminals and pages."""
    texts = {name: getattr(scenario, name) for name in type(scenario).model_fields}
    texts |= {"ports": " ".join(port.enclosure for port in scenario.ports or ())}
    for name, text in texts.items():
        if isinstance(text, str) and any(map(is_unsafe, text)):
            raise InputError(name, text, "it has characters that are not printed", "rename the file")


def _check_fill(scenario: Fields) -> None:
    if scenario.fill is not None and scenario.block_list is not None:
        raise InputError(
            "fill", scenario.fill, "the block_list says how full the pool is", "leave one of them out"
        )
    if scenario.fill is not None and scenario.alloc is not None:
        raise InputError("alloc", scenario.alloc, "fill is given too", "give one of the two")


def _check_classes(scenario: Fields, layout: Layout) -> None:
    """Refuse what is said of vdevs that the layout does not have."""
    special = layout.of_class(SPECIAL)
    for name in ("special_small_blocks", "special_added_at"):
        if getattr(scenario, name) is not None and not special:
            allowed = f"the layout {layout} has no special vdev"
            raise InputError(name, getattr(scenario, name), allowed, f"write {layout}+special:mirror2")
    for name in ("special_drive", "special_drive_size"):
        if getattr(scenario, name) is not None and len(layout.data) == len(layout.vdevs):
            allowed = f"the layout {layout} has data vdevs only"
            raise InputError(name, getattr(scenario, name), allowed, f"write {layout}+special:mirror2")
    if scenario.repaired_vdev >= len(layout.vdevs):
        allowed = f"the layout {layout} has " + (
            f"no {scenario.replace_in} vdev"
            if scenario.replace_in in CLASSES
            else f"vdevs 0 to {len(layout.vdevs) - 1}"
        )
        raise InputError("replace_in", scenario.replace_in, allowed, "name one that is there")
    if scenario.replace_in is not None and scenario.operation == "scrub":
        raise InputError("replace_in", scenario.replace_in, "a scrub replaces nothing", "leave it out")
    if layout.vdevs[scenario.repaired_vdev].alloc_class == LOG:
        allowed = f"vdev {scenario.repaired_vdev} of {layout} is for the intent log, which is not resilvered"
        raise InputError("replace_in", scenario.replace_in, allowed, "name another one")
    if layout.vdevs[scenario.repaired_vdev].alloc_class == DEDUP:
        allowed = "no simulated pool holds a dedup table; the scan visits all metadata, then copies the table"
        raise NotSimulatedYet("replace_in", scenario.replace_in, allowed, "name another vdev")
    _check_vdev_fills(scenario, layout)
    _check_vdev_frags(scenario, layout)


def _check_vdev_frags(scenario: Fields, layout: Layout) -> None:
    frags = scenario.vdev_frags
    if frags is None:
        return
    _check_count("vdev_frags", frags, layout)
    if not all(0.0 <= frag <= 1.0 for frag in frags):
        raise InputError("vdev_frags", ",".join(map(str, frags)), "each lies between 0 and 1", "")
    for name in ("frag", "block_list"):
        if getattr(scenario, name) is not None:
            allowed = "vdev_frags says how fragmented the pool's free space is"
            raise InputError(name, getattr(scenario, name), allowed, "leave one of them out")


def _check_count(field: str, shares: tuple[float, ...], layout: Layout) -> None:
    if len(shares) != len(layout.data):
        allowed = f"the layout {layout} has {len(layout.data)} data vdevs, {len(shares)} shares are given"
        raise InputError(field, ",".join(map(str, shares)), allowed, "give one share a vdev")


def _check_vdev_fills(scenario: Fields, layout: Layout) -> None:
    fills = scenario.vdev_fills
    if fills is None:
        return
    _check_count("vdev_fills", fills, layout)
    if not all(0.0 < fill < 1.0 for fill in fills):
        raise InputError("vdev_fills", ",".join(map(str, fills)), "each lies above 0 and below 1", "")
    for name in ("fill", "alloc", "block_list"):
        if getattr(scenario, name) is not None:
            allowed = "vdev_fills says how full the pool is"
            raise InputError(name, getattr(scenario, name), allowed, "leave one of them out")


def _check_records(scenario: Fields, release: ReleaseProfile) -> None:
    size = scenario.recordsize
    if size is None:
        return
    limit = largest_record(release)
    if not is_record_size(size, limit):
        allowed = f"in {release.name} it is a power of two from 512 to {format_bytes(limit)}"
        raise InputError("recordsize", format_bytes_exactly(size), allowed, "write 128K")


def _check_order(scenario: Fields, release: ReleaseProfile) -> None:
    if scenario.order == "sorted" and release.scan == "legacy":
        allowed = f"{release.name} knows only the legacy order"
        raise InputError("order", "sorted", allowed, "take openzfs-0.8 or later")
    legacy = (scenario.tunables or {}).get("zfs_scan_legacy")
    if scenario.order == "sorted" and legacy in (1, "1", "on", "true"):
        raise InputError("order", "sorted", "zfs_scan_legacy=1 contradicts it", "leave one of them out")


def _check_operation(scenario: Fields, layout: Layout, release: ReleaseProfile) -> None:
    present = [kind_of(name) for name in dict.fromkeys(vdev.kind for vdev in layout.vdevs)]
    for kind in present:
        if not kind.is_known_to(release):
            allowed = f"{release.name} has no {kind.title}"
            raise InputError("layout", str(layout), allowed, f"take {kind.since} or later")
    if len(layout.data) < len(layout.vdevs) and not release.special_class:
        for vdev in layout.vdevs:
            if vdev.alloc_class in (SPECIAL, DEDUP):
                allowed = f"{release.name} has no allocation classes"
                raise InputError("layout", str(layout), allowed, "take openzfs-0.8 or later")
    if scenario.operation == "expand":
        _check_expansion(layout, release)
    if scenario.operation == "remove":
        _check_removal(scenario, layout, release)
    if scenario.operation != "rebuild":
        return
    # Of the vdev under repair alone: a special mirror beside a RAID-Z can be rebuilt.
    repaired = kind_of(layout.vdevs[0].kind)
    if not repaired.is_rebuildable:
        others = " and ".join(each.plural for each in kinds().values() if each.is_rebuildable)
        allowed = f"{repaired.title} has no sequential rebuild, only {others} have"
        raise InputError("operation", "rebuild", allowed, "take resilver")
    if not repaired.can_be_rebuilt_by(release):
        allowed = f"{release.name} has no sequential rebuild for {layout}"
        raise InputError("operation", "rebuild", allowed, "take openzfs-2.1 or later, or resilver")


def _check_rewritten(scenario: Fields, layout: Layout) -> None:
    if scenario.rewritten is not None and not any(vdev.grown for vdev in layout.vdevs):
        allowed = f"no vdev of {layout} was expanded"
        raise InputError("rewritten", scenario.rewritten, allowed, "write the layout as raidz1x4+1")


def _check_expansion(layout: Layout, release: ReleaseProfile) -> None:
    """Refuse what ``zpool attach`` of a RAID-Z refuses."""
    if not kind_of(layout.vdevs[0].kind).expanded:
        allowed = "only a RAID-Z can be expanded by a drive, and the first vdev of the layout is"
        remedy = "write the RAID-Z first, as it is before; a pool without one grows by a vdev"
        raise InputError("layout", str(layout), allowed, remedy)
    if layout.vdevs[0].children >= MAX_CHILDREN:
        raise InputError("layout", str(layout), f"a vdev has at most {MAX_CHILDREN} drives", "add a vdev")
    if not release.raidz_expansion:
        allowed = f"{release.name} cannot expand a RAID-Z"
        raise InputError("operation", "expand", allowed, "take openzfs-2.3 or later")


def _check_removal(scenario: Fields, layout: Layout, release: ReleaseProfile) -> None:
    """Refuse what ``zpool remove`` refuses of any pool (vdev_removal.c:spa_vdev_remove_top_check)."""
    if not release.device_removal:
        allowed = f"{release.name} cannot remove a top-level vdev"
        raise InputError("operation", "remove", allowed, "take openzfs-0.8 or later, or zfs send")
    if not all(kind_of(vdev.kind).is_replicated for vdev in layout.vdevs):
        allowed = "a vdev is removed only from a pool whose vdevs are all mirrors or single drives"
        raise InputError("layout", str(layout), allowed, "move the data with zfs send")
    if layout.vdevs[0].alloc_class != NORMAL:
        allowed = "only data vdevs are removed here"
        raise NotSimulatedYet("replace_in", str(layout.vdevs[0]), allowed, "name a data vdev, such as 0")
    if len(layout.data) < 2:
        allowed = "what the removed vdev holds has to go to another one"
        raise InputError("layout", str(layout), allowed, "write a pool of several vdevs, such as 3*mirror2")
    for name in ("block_list", "metaslabs"):
        if getattr(scenario, name) is not None:
            allowed = "a removal goes to space whose free segments are simulated with the pool"
            raise NotSimulatedYet(name, getattr(scenario, name), allowed, "leave it out")


def _check_replacement(scenario: Fields, layout: Layout) -> None:
    if scenario.operation == "scrub":
        _check_scrub(scenario, layout)
        return
    if scenario.operation == "expand":
        _check_replaces_nothing(scenario, "an expansion adds one drive and replaces none")
        return
    if scenario.operation == "remove":
        _check_replaces_nothing(scenario, "a removal replaces no drive")
        return
    vdev = layout.vdevs[0]
    if vdev.is_disk:
        allowed = "a single drive has nothing to resilver from, it can be scrubbed only"
        raise InputError("layout", str(scenario.pool_layout), allowed, _instead(scenario))
    if scenario.old_drive == "overwritten":
        allowed = "only a scrub repairs an overwritten drive in place"
        raise InputError("old_drive", "overwritten", allowed, "take operation scrub, or missing or online")
    count = scenario.replaced_drives or 1
    if scenario.second_at is not None:
        _check_second(scenario, vdev, count)
    if scenario.target == "distributed-spare":
        _check_spare(scenario, vdev, count)
    limit = vdev.children if scenario.old_drive == "online" else vdev.tolerance
    if count > limit:
        allowed = f"of {vdev} at most {limit} can be replaced at once"
        hint = "set old_drive to online if they still work" if scenario.old_drive != "online" else ""
        raise InputError("replace", count, f"{allowed}, else its data is lost" if hint else allowed, hint)


def _instead(scenario: Fields) -> str:
    """Return what can be asked of a pool whose vdev of the repair is a single drive."""
    vdevs = scenario.pool_layout.data
    other = next((place for place, vdev in enumerate(vdevs) if not vdev.is_disk), None)
    if other is not None:
        return f"take operation scrub, or name the vdev that is repaired: replace_in {other}"
    rest = Layout((VdevSpec.mirror(2), *vdevs[1:]))
    return (
        f"take operation scrub; where a drive that works is replaced or mirrored (zpool replace, zpool"
        f" attach), take {rest}; zsim risk says how likely the pool is lost"
    )


def _check_scrub(scenario: Fields, layout: Layout) -> None:
    _check_replaces_nothing(scenario, "a scrub replaces nothing", "new_drive", "new_drive_size")
    if scenario.old_drive == "overwritten" and not kind_of(layout.vdevs[0].kind).repairs_overwritten:
        others = " and ".join(each.plural for each in kinds().values() if each.repairs_overwritten)
        subject = f"the repair of an overwritten drive of {layout.vdevs[0]}"
        allowed = f"{subject} is not simulated, that of {others} is"
        raise InputError("old_drive", "overwritten", allowed, "take a layout such as raidz2x6")


def _check_replaces_nothing(scenario: Fields, allowed: str, *more: str) -> None:
    for name in ("replace", "second_at", "old_drive", "target", *more):
        value = scenario.replaced_drives if name == "replace" else getattr(scenario, name)
        if value is not None and (value != "overwritten" or scenario.operation != "scrub"):
            raise InputError(name, value, allowed, "leave it out")


def _check_second(scenario: Fields, vdev: VdevSpec, count: int) -> None:
    if scenario.operation == "rebuild" or scenario.target == "distributed-spare":
        allowed = "another drive can join a healing resilver onto replacement drives only"
        raise InputError(
            "second_at", scenario.second_at, allowed, "take operation resilver, target new-drive"
        )
    if count + 1 > vdev.children:
        raise InputError("second_at", scenario.second_at, f"{vdev} has no drive left", "replace fewer")


def _check_spare(scenario: Fields, vdev: VdevSpec, count: int) -> None:
    if not vdev.spares:
        allowed = f"{vdev} has no distributed spare"
        raise InputError("target", "distributed-spare", allowed, "write the layout as draid2:8d:41c:2s")
    if count > vdev.spares:
        raise InputError("replace", count, f"{vdev} has {vdev.spares} distributed spares", "replace fewer")
    if scenario.new_drive or scenario.new_drive_size:
        raise InputError("new_drive", scenario.new_drive, "a distributed spare is no drive", "leave it out")


def _check_autosit(scenario: Fields, layout: Layout, release: ReleaseProfile) -> None:
    if not scenario.autosit:
        return
    if "vdev_read_sit_out_secs" not in release.tunables:
        allowed = f"{release.name} has no autosit"
        raise InputError("autosit", True, allowed, "take openzfs-2.4 or later, or leave it out")
    vdev = layout.vdevs[0]
    if kind_of(vdev.kind).is_replicated or vdev.children < FEWEST_TO_SIT_OUT:
        allowed = "only children of RAID-Z and dRAID with five drives or more sit out"
        raise InputError("autosit", str(vdev), allowed, "leave it out")


def _check_sick(scenario: Fields, layout: Layout) -> None:
    for name in ("slow", "bad_sectors", "attached"):
        _check_drives(scenario, layout, name)
    seen: set[int] = set()
    for each in scenario.exchanged or ():
        if each.drive >= layout.leaves:
            allowed = f"the drives of {layout} are counted from 0 to {layout.leaves - 1}"
            raise InputError("exchanged", str(each), allowed, "name one of these")
        if each.drive in seen:
            raise InputError("exchanged", str(each), f"drive {each.drive} is named twice", "name it once")
        seen.add(each.drive)


def _check_drives(scenario: Fields, layout: Layout, name: str) -> None:
    replaced = 0 if scenario.operation in ("scrub", "remove") else (scenario.replaced_drives or 1)
    gone = range(0 if scenario.old_drive == "online" or scenario.operation == "expand" else replaced)
    seen: set[int] = set()
    for each in getattr(scenario, name) or ():
        if each.drive >= layout.leaves + replaced:
            allowed = f"drives are counted from 0 to {layout.leaves + replaced - 1}, replacements last"
            raise InputError(name, str(each), allowed, "name one of these")
        if each.drive in gone:
            allowed = "it is the one that failed: the first drives of the layout are replaced"
            raise InputError(name, str(each), allowed, "name one that is read, or state old_drive online")
        if each.drive in seen:
            raise InputError(name, str(each), f"drive {each.drive} is named twice", "name it once")
        seen.add(each.drive)


def _check_ports(scenario: Fields, layout: Layout) -> None:
    seen: dict[int, str] = {}
    new = 0 if scenario.operation in ("scrub", "remove") else (scenario.replaced_drives or 1)
    for port in scenario.ports or ():
        for leaf in port.leaves(layout.leaves, new):
            if leaf in seen:
                allowed = f"drive {leaf} is behind {seen[leaf]} already"
                raise InputError("port", str(port), allowed, "name each drive once")
            seen[leaf] = str(port)
