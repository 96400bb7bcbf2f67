"""From the ``config.json`` of a run of real OpenZFS on emulated drives to what the engine runs.

The drives are those of the runs' published formulas: zones of equal width, a seek curve, a constant
rotational phase (a golden-ratio step from leaf to leaf), and forward gaps up to ``skip_kb`` that are passed
over without a lost turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from zsim.base.errors import InputError
from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.models.slowed import slowed
from zsim.engine.model import TO_SPARE, ClientModel, LeafModel, LinkModel, PlaneModel, VdevModel, WriterModel
from zsim.operation.rules import queue_rules, scan_rules, sit_out_rules
from zsim.operation.run import RunSetup, SecondReplacement
from zsim.pool.blocks import BlockTable
from zsim.pool.measured.bps import expanded_word, in_classes
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import Operation, ReleaseProfile, load_release
from zsim.vdevs.kind import kind_of

PHASE_STEP = 0.381966
PAGE = 4096
DEFAULT_PAGES = 6_171_021
MODES = ("sorted", "legacy", "rebuild")
NO_LIMIT = 1e15


def _fields(*lines: str) -> frozenset[str]:
    """Return the names in some lines of text."""
    return frozenset(name for line in lines for name in line.split())


KNOWN = {
    "": _fields(
        "id zfs operation mode replace_mode target pool nleaves new_leaf new_leaves replaced_leaf",
        "replaced_leaf2 foreground disk tunables tunables_changed label_start_bytes ncpus alloc_count",
        "ms_count ms_shift harness sitout sitout_at_end autosit",
    ),
    "pool": _fields(
        "layout ntop ashift leafmb fill pattern rec mixrec rounds owfrac freefrac txgmb filekb nfs snaps",
        "seed later fill1 special_vdevs ssb expanded_from expand post_rounds",
    ),
    "foreground": _fields("fg fgthink fgw rebuild spare replace2 hold"),
    "disk": _fields(
        "rpm zones outer_mbps inner_mbps sk_a sk_b sk_c sk_d knee skip_kb overhead_us ncq sptf max_age_ms",
        "wc_mb wc_mbps hz delay_extra pm_mode pm_leaves pm_mbps nonrot ssd_par ssd_lo_us ssd_hi_us ssd_mbps",
        "slow_leaf slow_mult tail_leaf tail_p tail_ms quiet_ms",
    ),
}
"""Fields that are read, or that change nothing but the making of the pool, by section."""


@dataclass(frozen=True, slots=True)
class EmulatedRun:
    """A configuration as read.

    Attributes
    ----------
    config, result : Mapping
        ``config.json`` and ``result.json`` (empty where there is none).
    mode : {"sorted", "legacy", "rebuild"}
        A missing mode is the legacy scan (0.7).
    """

    config: Mapping[str, Any]
    result: Mapping[str, Any]

    def section(self, name: str) -> Mapping[str, Any]:
        """Return one part of the configuration, empty if it is not there."""
        part = self.config.get(name) or {}
        if not isinstance(part, Mapping):
            raise InputError(f"config.json: {name}", part, "an object is expected")
        return part

    @property
    def mode(self) -> str:
        """How the scan works; see the class."""
        mode = self.config.get("mode") or "legacy"
        if self.section("foreground").get("rebuild"):
            mode = "rebuild"
        if mode == "scrub":
            return "sorted"
        if mode not in MODES:
            raise InputError("config.json: mode", mode, f"one of {', '.join(MODES)}")
        return str(mode)

    @property
    def scrub(self) -> bool:
        """Whether the run is a scrub."""
        return self.config.get("operation") == "scrub"

    @property
    def operation(self) -> Operation:
        """Operation of the run."""
        if self.scrub:
            return "scrub"
        if self.config.get("operation") == "expand":
            return "expand"
        return "rebuild" if self.mode == "rebuild" else "resilver"

    @property
    def layout(self) -> Layout:
        """Layout of the pool, all top-level vdevs."""
        text = self.section("pool").get("layout")
        if not isinstance(text, str):
            raise InputError("config.json: pool.layout", text, "a layout such as raidz2x6 is expected")
        before = self.section("pool").get("expanded_from")
        if isinstance(before, str):
            text = expanded_word(before, text)
        tops = int(self.section("pool").get("ntop") or 1)
        layout = Layout.parse(f"{tops}*{text}" if tops > 1 else text)
        return in_classes(layout, self.section("pool").get("special_vdevs") or ())

    @property
    def sources(self) -> int:
        """Leaves of the pool before anything is replaced."""
        return sum(vdev.children for vdev in self.layout.vdevs)

    @property
    def new_leaves(self) -> tuple[int, ...]:
        """Leaves that replace others."""
        if self.scrub:
            return ()
        listed = self.config.get("new_leaves")
        if listed is not None:
            return tuple(int(leaf) for leaf in listed)
        new = self.config.get("new_leaf")
        return () if new is None else (int(new),)

    @property
    def to_spare(self) -> bool:
        """Whether the repair goes to a distributed spare."""
        return self.config.get("target") == "distributed spare" or bool(
            self.section("foreground").get("spare")
        )

    @property
    def randomly_loaded(self) -> bool:
        """Whether the run has random streams that are not recorded, or a drive whose choices are its own."""
        load, disk = self.section("foreground"), self.section("disk")
        return bool(
            load.get("fg")
            or load.get("fgw")
            or disk.get("wc_mb")
            or disk.get("ssd_par")
            or load.get("replace2")
        )

    @property
    def is_random(self) -> bool:
        """Whether several seeds are needed: loads, or a drive that stutters by chance."""
        return self.randomly_loaded or bool(self.section("disk").get("tail_leaf"))

    @property
    def category(self) -> str:
        """Class in the summary."""
        load, disk = self.section("foreground"), self.section("disk")
        special = {
            "second replacement": load.get("replace2"),
            "foreground load": load.get("fg") or load.get("fgw"),
            "SSD": disk.get("ssd_par"),
            "slow drive": disk.get("slow_leaf") or disk.get("tail_leaf"),
            "write cache": disk.get("wc_mb"),
            "port multiplier": disk.get("pm_mode"),
        }
        named = next((name for name, present in special.items() if present), None)
        if named is not None:
            return named
        kind = kind_of(self.layout.vdevs[0].kind)
        own = kind.name if kind.has_groups else ""
        plain = "expansion" if self.operation == "expand" else f"{own} {self.mode}".strip()
        return f"{own or self.mode} scrub" if self.scrub else plain


def refuse_unknown(bench: EmulatedRun) -> None:
    """Refuse a configuration that says something that would be passed over.

    Raises
    ------
    InputError
        Naming the first such field.
    """
    for name, known in KNOWN.items():
        part = bench.section(name) if name else bench.config
        for field in part:
            full = f"{name}.{field}" if name else field
            if field not in known and part[field] not in (None, 0, "", "0", [], False):
                raise InputError(
                    f"config.json: {full}", str(part[field]), "a run of zsim knows no such field"
                )


def release_of(bench: EmulatedRun) -> ReleaseProfile:
    """Return the release of a run with the tunables it had, and its kernel's clock."""
    name = bench.config.get("zfs")
    if not isinstance(name, str):
        raise InputError("config.json: zfs", name, "a release such as 2.3.9 is expected")
    release = load_release(name)
    given = bench.section("tunables")
    known = {key: value for key, value in given.items() if key in release.tunables}
    if bench.mode == "legacy" and "zfs_scan_legacy" in release.tunables:
        known.setdefault("zfs_scan_legacy", 1)
    hz = int(bench.section("disk").get("hz") or 250)
    return replace(release.with_tunables(known), hz=hz)


def drive_of(bench: EmulatedRun, leaf: int) -> DriveParameters:
    """Return the drive of one leaf, as slow as it was made."""
    disk = bench.section("disk")
    if leaf not in leaf_numbers(disk.get("slow_leaf")):
        return _sound_drive(bench, leaf)
    return slowed(_sound_drive(bench, leaf), float(disk["slow_mult"]))


def health_of(bench: EmulatedRun, leaf: int, seed: int) -> DriveHealth:
    """Return what ails the drive of one leaf: a share of its reads may take a time of their own."""
    disk = bench.section("disk")
    if leaf not in leaf_numbers(disk.get("tail_leaf")):
        return SOUND
    return DriveHealth(
        stutter_share=float(disk["tail_p"]), stutter_s=float(disk["tail_ms"]) * 1e-3, seed=seed
    )


def _sound_drive(bench: EmulatedRun, leaf: int) -> DriveParameters:
    disk, pool = bench.section("disk"), bench.section("pool")
    capacity = int(pool["leafmb"]) << 20
    return _flash_drive(bench, capacity) if disk.get("ssd_par") else _rotating_drive(bench, capacity, leaf)


def _flash_drive(bench: EmulatedRun, capacity: int) -> DriveParameters:
    disk = bench.section("disk")
    return DriveParameters(
        capacity_bytes=capacity,
        kind="flash",
        parallel_commands=int(disk["ssd_par"]),
        flash_latency_min_s=disk["ssd_lo_us"] * 1e-6,
        flash_latency_max_s=disk["ssd_hi_us"] * 1e-6,
        flash_read_rate=disk["ssd_mbps"] * 1e6,
        flash_write_rate=disk["ssd_mbps"] * 1e6,
        rotating=not disk.get("nonrot", 1),
        queue_depth=int(disk.get("ncq", 32)),
    )


def _rotating_drive(bench: EmulatedRun, capacity: int, leaf: int) -> DriveParameters:
    disk = bench.section("disk")
    outer, inner, zones = disk["outer_mbps"], disk["inner_mbps"], int(disk["zones"])
    revolution = 60.0 / disk["rpm"]
    skip = int(disk["skip_kb"]) << 10
    return DriveParameters(
        capacity_bytes=capacity,
        revolution_s=revolution,
        zone_rates=tuple((outer + (inner - outer) * (zone + 0.5) / zones) * 1e6 for zone in range(zones)),
        phase_revolutions=PHASE_STEP * leaf % 1.0,
        seek_short_a_s=disk["sk_a"] * 1e-3,
        seek_short_b_s=disk["sk_b"] * 1e-3,
        seek_long_c_s=disk["sk_c"] * 1e-3,
        seek_long_e_s=disk["sk_d"] * 1e-3,
        seek_knee=disk["knee"],
        read_overhead_s=disk["overhead_us"] * 1e-6,
        write_overhead_s=disk["overhead_us"] * 1e-6,
        overhead_overlaps=False,
        read_pass_under_bytes=skip,
        write_pass_under_bytes=skip,
        queue_depth=int(disk.get("ncq", 32)),
        queue_policy="sptf" if disk.get("sptf", 1) else "fcfs",
        queue_max_age_s=disk.get("max_age_ms", 500) * 1e-3,
        write_cache_bytes=int(disk.get("wc_mb") or 0) << 20,
        flush_each_txg=bool(disk.get("wc_mb")),
        cached_writes_age=True,
        interface_rate=float(disk.get("wc_mbps") or 500) * 1e6,
    )


def link_of(bench: EmulatedRun) -> tuple[tuple[LinkModel, ...], frozenset[int]]:
    """Return the port multiplier of a run, if it has one, and the leaves behind it."""
    disk = bench.section("disk")
    mode = disk.get("pm_mode")
    if not mode:
        return (), frozenset()
    if mode not in ("bw", "cbs"):
        raise InputError("config.json: disk.pm_mode", mode, "one of bw, cbs")
    rate = float(disk.get("pm_mbps") or 0) * 1e6 or NO_LIMIT
    return (LinkModel(rate=rate, command_based=mode == "cbs", name="port multiplier"),), leaf_numbers(
        disk.get("pm_leaves")
    )


def leaf_numbers(value: Any) -> frozenset[int]:
    """Return the leaves named by a list, a number or a text such as ``3+4``."""
    if isinstance(value, (list, tuple)):
        return frozenset(int(each) for each in value)
    return frozenset(int(digits) for digits in re.findall(r"\d+", str(value or "")))


def vdevs_of(bench: EmulatedRun) -> tuple[VdevModel, ...]:
    """Return the top-level vdevs, the first of them with what is replaced."""
    autosit = sit_out_rules(release_of(bench)) if int(bench.config.get("autosit") or 0) else None
    pool, config = bench.section("pool"), bench.config
    replaced = {} if bench.operation in ("scrub", "expand") else _replacements(bench)
    alive = config.get("replace_mode") == "healthy"
    gone = frozenset() if alive else frozenset(replaced) | {config.get("replaced_leaf2")}
    # A leaf that sits out is written, but a resilver of RAID-Z reads the others (vdev_raidz.c, 2.4).
    sitting = leaf_numbers(config.get("sitout")) if bench.operation == "resilver" else frozenset()
    result, first = [], 0
    for spec in bench.layout.vdevs:
        leaves = range(first, first + spec.children)
        result.append(
            VdevModel(
                kind=spec.kind,
                parity=spec.parity,
                ashift=int(pool.get("ashift", 12)),
                read_leaf=tuple(-1 if leaf in gone | sitting else leaf for leaf in leaves),
                sitting_out=frozenset((leaf - first, leaf) for leaf in leaves if leaf in sitting),
                write_leaf=tuple(replaced.get(leaf, -1) for leaf in leaves),
                data=spec.data,
                spares=spec.spares,
                grown=spec.grown,
                alloc_class=spec.alloc_class,
                autosit=None if kind_of(spec.kind).is_replicated else autosit,
            )
        )
        first += spec.children
    return tuple(result)


def _replacements(bench: EmulatedRun) -> dict[int, int]:
    old = bench.config.get("replaced_leaf")
    new = bench.new_leaves
    if old is None:
        raise InputError("config.json: replaced_leaf", None, "a resilver names the leaf that is replaced")
    if bench.to_spare:
        return {int(old): TO_SPARE}
    if not new:
        raise InputError("config.json: new_leaf", None, "a resilver names the leaf that is written")
    return {int(old): new[0]}


def second_replacement(bench: EmulatedRun) -> SecondReplacement | None:
    """Return the second replacement of a run, if it has one."""
    old = bench.config.get("replaced_leaf2")
    if old is None or not bench.section("foreground").get("replace2") or len(bench.new_leaves) < 2:
        return None
    first, visit = bench.result.get("attach1_returned_s"), bench.result.get("first_visit_s")
    at = max(0.0, float(first or 0.0) - float(visit or 0.0))
    held = bool(
        bench.section("foreground").get("hold") or bench.section("tunables").get("zfs_scan_suspend_progress")
    )
    # Both commands came back before the scan visited anything: one pass serves both (spa.c:spa_vdev_attach).
    last = bench.result.get("attach_returned_s")
    held = held or (first is not None and last is not None and visit is not None and last <= visit)
    return SecondReplacement(child=int(old), leaf=bench.new_leaves[1], at=0.0 if held else at, together=held)


def clock_of(bench: EmulatedRun) -> float:
    """Return what the run's clock showed at the first visit [s], 0 if unknown.

    Of a rebuild the first I/O, of an expansion the moment when the command is back.
    """
    first = bench.result.get("attach_returned_s" if bench.operation == "expand" else "first_visit_s")
    if first is None:
        first = bench.result.get("first_scan_io_s")
    return float(bench.result.get("t0_ns") or 0) / 1e9 + float(first or 0.0)


def setup_of(bench: EmulatedRun, blocks: BlockTable, seed: int, records: int = 0) -> RunSetup:
    """Return what the engine runs for a bench run and a population.

    Raises
    ------
    InputError
        When the configuration lacks a field, or one has a value that cannot be used.
    """
    refuse_unknown(bench)
    try:
        return _setup(bench, blocks, seed, records)
    except KeyError as error:
        raise InputError("config.json", None, f"it has no field {error}") from error
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise InputError(
            "config.json", str(bench.config.get("id")), f"a field has the wrong type ({error})"
        ) from error


def _setup(bench: EmulatedRun, blocks: BlockTable, seed: int, records: int) -> RunSetup:
    release, load, disk = release_of(bench), bench.section("foreground"), bench.section("disk")
    links, behind = link_of(bench)
    count = bench.sources + len(bench.new_leaves)
    leaves = tuple(
        LeafModel(
            drive=drive_of(bench, leaf),
            link=0 if leaf in behind else -1,
            health=health_of(bench, leaf, seed),
        )
        for leaf in range(count)
    )
    scan = scan_rules(release, bench.operation)
    loses_race = bench.section("tunables").get("zsim_pf_yield", 1) == 0
    if loses_race:
        scan = replace(scan, prefetch_recursive=False)
    if disk.get("delay_extra"):
        scan = replace(scan, delay_ticks=scan.delay_ticks + int(disk["delay_extra"]) * (scan.delay_ticks > 0))
    model = PlaneModel(
        leaves=leaves,
        links=links,
        vdevs=vdevs_of(bench),
        queue=queue_rules(release),
        scan=scan,
        clients=_clients(load, seed),
        writer=_writer(load),
    )
    pages = bench.section("tunables").get("physmem", DEFAULT_PAGES)
    return RunSetup(
        model=model,
        blocks=blocks,
        release=release,
        operation=bench.operation,
        memory=int(pages) * PAGE,
        seed=seed,
        records=records,
        second=second_replacement(bench),
        clock_s=clock_of(bench),
        imported=True,
        prefetch_from=int(loses_race),
        metaslab_shift=_metaslab_shift(bench),
    )


def _metaslab_shift(bench: EmulatedRun) -> int | None:
    """Return the size of the metaslabs; the configuration has that of the first vdev only."""
    same = len(set(bench.layout.vdevs)) == 1
    return int(bench.config.get("ms_shift") or 0) or None if same else None


def _clients(load: Mapping[str, Any], seed: int) -> tuple[ClientModel, ...]:
    count = int(load.get("fg") or 0)
    think_s = float(load.get("fgthink") or 0) / 1e3
    return (ClientModel(count=count, think_s=think_s, seed=seed),) if count > 0 else ()


def _writer(load: Mapping[str, Any]) -> WriterModel:
    return WriterModel(rate=float(load.get("fgw") or 0) * 1e6)
