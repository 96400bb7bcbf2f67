"""Format of a folder with config.json and bps.csv.zst: a run of real OpenZFS over emulated drives.

The scenario comes from config.json, the population from the list of block pointers (or from its recipe),
what was seen from result.json.  ``time`` is the resilver from the first visit to its end (a rebuild: from
its first to its last I/O), for the 0.7 series, whose results lack it, the span of the scan's data I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zsim.base.arrays import Rows
from zsim.base.errors import InputError
from zsim.base.reading import read_json
from zsim.validation.frame import Claim, Options, ValidationCase, judge

if TYPE_CHECKING:
    from zsim.operation.run import RunResult
    from zsim.pool.blocks import BlockTable
    from zsim.pool.recipes.recipe import PoolRecipe
    from zsim.validation.formats.zfs_config import EmulatedRun

TOLERANCE, LOADED_TOLERANCE = 0.08, 0.20
RECIPE_TOLERANCE = 0.50
BYTES_TOLERANCE, SIZE_TOLERANCE = 0.01, 0.10
SEEDS, RECIPE_SEEDS = 5, 3
RECORDS = 1 << 16
FEW = 100
KIB, MB = 1024, 1e6


class LeafMeasures(NamedTuple):
    """What one leaf did, or what several did on the mean.

    Attributes
    ----------
    reads, writes, scan_reads, scan_writes : float
        Commands.
    scan_read_bytes, scan_write_bytes : float
        [bytes]
    sequential, forward : float
        Shares of all commands that begin where the last ended, or up to 512 KiB behind.
    order_reads, order_writes : float
        Spearman correlation of service order and offset of the scan's reads, and of its writes.
    utilisation : float
        Busy share of the span of the scan's data I/O.
    """

    reads: float
    writes: float
    scan_reads: float
    scan_writes: float
    scan_read_bytes: float
    scan_write_bytes: float
    sequential: float
    forward: float
    order_reads: float
    order_writes: float
    utilisation: float


def discover(path: Path) -> list[ValidationCase]:
    """Return the one case that a folder is."""
    from zsim.validation.formats.zfs_config import EmulatedRun

    config, problem = _json(path / "config.json")
    result, missing = _json(path / "result.json")
    bench = EmulatedRun(config, result)
    name = str(config.get("id") or path.name)
    if problem:
        return [ValidationCase(name, "zfs-run", "zfs-run", path, problem=problem)]
    try:
        tolerance = LOADED_TOLERANCE if bench.randomly_loaded else TOLERANCE
        category: str | None = bench.category
    except (InputError, TypeError, ValueError, AttributeError) as error:
        return [
            ValidationCase(name, "zfs-run", "zfs-run", path, problem=f"config.json cannot be used: {error}")
        ]
    observed = _number(result, "resilver_s")
    if observed is None:
        observed = _number(result, "scan_io_span_s")
    if observed is None and not missing:
        missing = "result.json has neither resilver_s nor scan_io_span_s"
    if not (path / "bps.csv.zst").is_file():
        missing = "bps.csv.zst is missing"
    return [
        ValidationCase(
            name, "zfs-run", "zfs-run", path, observed=observed, tolerance=tolerance, category=category,
            problem=missing,
        )
    ]  # fmt: skip


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of one run; several seeds where its streams or its blocks are random."""
    from zsim.operation.run import Run
    from zsim.validation.formats.zfs_config import EmulatedRun, setup_of
    from zsim.validation.formats.zfs_population import population_claims

    bench = EmulatedRun(_json(case.path / "config.json")[0], _json(case.path / "result.json")[0])
    recipe = options.population == "recipe"
    count = SEEDS if bench.is_random else RECIPE_SEEDS if recipe else 1
    given = given_population(case.path)
    tables, results = [], []
    for seed in range(options.seed, options.seed + count):
        tables.append(recipe_population(bench, seed) if recipe else given)
        results.append(Run(setup_of(bench, tables[-1], seed, records=RECORDS)).execute())
    if recipe:
        return [
            *time_claims(case, bench, results, RECIPE_TOLERANCE),
            *leaf_claims(case, bench, results, None, None),
            *population_claims(case, given, tables, recipe_of(bench).vdevs),
        ]
    return [
        *time_claims(case, bench, results, case.tolerance),
        *leaf_claims(case, bench, results, BYTES_TOLERANCE, SIZE_TOLERANCE),
    ]


def given_population(path: Path) -> BlockTable:
    """Return the blocks of a run in the order of ``traverse_pool``."""
    from zsim.pool.measured.bps import read_block_list

    return read_block_list(path / "bps.csv.zst").table


def recipe_of(bench: EmulatedRun) -> PoolRecipe:
    """Return the recipe of a run's pool: the `pool` of its config.json, layout, ashift and release."""
    from zsim.pool.measured.bps import recipe_from_config

    return recipe_from_config(bench.config)


def recipe_population(bench: EmulatedRun, seed: int) -> BlockTable:
    """Return blocks made from nothing but the recipe of a run's pool."""
    from zsim.pool.simulator.population import build_population

    return build_population(recipe_of(bench), seed)


def time_claims(
    case: ValidationCase, bench: EmulatedRun, results: Sequence[RunResult], tolerance: float | None
) -> list[Claim]:
    """Return the claims about durations, and about the clients where there are any."""
    seen = bench.result

    def mean(value: Callable[[RunResult], float]) -> float:
        return float(np.mean([value(result) for result in results]))

    whole = _number(seen, "resilver_s") is not None and bench.operation != "rebuild"
    times = [result.end if whole else result.span for result in results]
    spread = {"seeds": float(len(times)), "lowest": min(times), "highest": max(times)}
    claims = [
        judge(
            case,
            "time",
            case.observed,
            float(np.mean(times)),
            tolerance,
            unit="s",
            details=spread,
        ),
        judge(case, "span", _number(seen, "scan_io_span_s"), mean(lambda result: result.span), unit="s"),
    ]
    if _number(seen, "visit_phase_s") is not None:
        claims.append(
            judge(case, "visit_phase", seen["visit_phase_s"], mean(lambda result: result.visit), unit="s")
        )
    if bench.section("foreground").get("fg"):
        latency = (_number(seen, "fg_mean_lat_ms") or 0.0) / 1e3
        claims += [
            judge(case, "client_reads", _number(seen, "fg_reads"), mean(lambda result: result.client_reads)),
            judge(case, "client_latency", latency, mean(lambda result: result.client_latency_s), unit="s"),
        ]
    return claims


def leaf_claims(
    case: ValidationCase,
    bench: EmulatedRun,
    results: Sequence[RunResult],
    bytes_tolerance: float | None,
    size_tolerance: float | None,
) -> list[Claim]:
    """Return the claims about what sources and new drives did."""
    listed = [leaf for leaf in bench.result.get("leaves") or () if isinstance(leaf, Mapping)]
    new = set(bench.new_leaves)
    sources = [leaf for leaf in listed if leaf.get("leaf") not in new and (leaf.get("scan_reads") or 0) > FEW]
    writers = [leaf for leaf in listed if leaf.get("leaf") in new and (leaf.get("scan_writes") or 0) > FEW]
    claims: list[Claim] = []
    for name, group in (("source", sources), ("new", writers)):
        if not group:
            continue
        numbers = [int(leaf["leaf"]) for leaf in group]
        seen = observed_measures(bench.result, group, name)
        found = [predicted_measures(result, numbers) for result in results]
        answer = LeafMeasures(*(float(np.mean(column)) for column in zip(*found, strict=True)))
        claims += compared(case, name, seen, answer, bytes_tolerance, size_tolerance)
    return claims


def compared(
    case: ValidationCase, name: str, seen: LeafMeasures, answer: LeafMeasures, bytes_tolerance: float | None,
    size_tolerance: float | None,
) -> Iterator[Claim]:  # fmt: skip
    """Yield the claims about one group of leaves."""
    for way in ("read", "write"):
        count, size = f"scan_{way}s", f"scan_{way}_bytes"
        if getattr(seen, count) < FEW:
            continue
        # Reads span gaps of other blocks when they are merged: their bytes depend on the order, writes do
        # not.
        exact = bytes_tolerance if way == "write" else None
        yield judge(
            case, f"{name}_{way}_bytes", getattr(seen, size), getattr(answer, size), exact, unit="bytes"
        )
        yield judge(case, f"{name}_{way}s", getattr(seen, count), getattr(answer, count))
        means = [getattr(each, size) / max(1.0, getattr(each, count)) for each in (seen, answer)]
        yield judge(case, f"{name}_mean_{way}", means[0], means[1], size_tolerance, unit="bytes")
        yield from _informed(
            case, f"{name}_order_{way}s", getattr(seen, f"order_{way}s"), getattr(answer, f"order_{way}s")
        )
    yield judge(case, f"{name}_commands", seen.reads + seen.writes, answer.reads + answer.writes)
    for field in ("sequential", "forward", "utilisation"):
        yield from _informed(case, f"{name}_{field}", getattr(seen, field), getattr(answer, field))


def _informed(case: ValidationCase, claim: str, seen: float, answer: float) -> Iterator[Claim]:
    if np.isfinite(seen):
        yield judge(case, claim, seen, answer)


def observed_measures(
    result: Mapping[str, object], leaves: Sequence[Mapping[str, object]], name: str
) -> LeafMeasures:
    """Return what a group of leaves was seen to do, the mean over them."""
    span = _number(result, "scan_io_span_s") or np.nan
    busy = _mean(leaves, "busy_in_span_s") / span
    if not np.isfinite(busy):
        busy = _number(result, "src_util" if name == "source" else "new_util") or np.nan
    return LeafMeasures(
        _mean(leaves, "reads"),
        _mean(leaves, "writes"),
        _mean(leaves, "scan_reads"),
        _mean(leaves, "scan_writes"),
        _mean(leaves, "scan_MB_read") * MB,
        _mean(leaves, "scan_MB_written") * MB,
        _mean(leaves, "frac_sequential"),
        _mean(leaves, "frac_within_512K_ahead"),
        _mean(leaves, "order_corr_R"),
        _mean(leaves, "order_corr_W"),
        busy,
    )


def predicted_measures(result: RunResult, leaves: Sequence[int]) -> LeafMeasures:
    """Return what a group of leaves did in the model, the mean over them."""
    return LeafMeasures(
        *(float(np.mean(column)) for column in zip(*(_one(result, leaf) for leaf in leaves), strict=True))
    )


def _one(result: RunResult, leaf: int) -> LeafMeasures:
    state, records = result.leaves[leaf], result.records[result.records["leaf"] == leaf]
    commands = max(1, int(state["reads"] + state["writes"]))
    scan = records[records["scan"] != 0]
    begin, end = result.first_scan_s, result.first_scan_s + result.span
    inside = np.minimum(records["done"], end) - np.maximum(records["started"], begin)
    order = [_order(scan[scan["write"] == way]) for way in (0, 1)]
    return LeafMeasures(
        float(state["reads"]),
        float(state["writes"]),
        float(state["scan_reads"]),
        float(state["scan_writes"]),
        float(state["scan_read_bytes"]),
        float(state["scan_write_bytes"]),
        float(state["sequential"]) / commands,
        float(state["forward"]) / commands,
        order[0],
        order[1],
        float(np.maximum(0.0, inside).sum()) / max(1e-9, result.span),
    )


def _order(records: Rows) -> float:
    """Return Spearman's rank correlation of service order and offset."""
    if len(records) < 3:
        return 0.0
    order = np.argsort(records["started"], kind="stable")
    ranks = np.empty(len(records))
    ranks[np.argsort(records["offset"][order], kind="stable")] = np.arange(len(records))
    return float(np.corrcoef(ranks, np.arange(len(records)))[0, 1])


def _mean(leaves: Sequence[Mapping[str, object]], key: str) -> float:
    values = [_number(leaf, key) for leaf in leaves]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")


def _number(data: Mapping[str, object], key: str) -> float | None:
    value = data.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _json(path: Path) -> tuple[Mapping[str, object], str]:
    """Return a JSON object and an empty string, or nothing and what is wrong."""
    try:
        data = read_json(path)
    except InputError as error:
        return {}, f"{path.name}: {error.allowed}"
    return (data, "") if isinstance(data, dict) else ({}, f"{path.name} holds no object")
