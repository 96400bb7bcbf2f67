"""Every tunable and behaviour of a release changes what is simulated, or is listed with a reason."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.engine.model import PlaneModel, VdevModel
from zsim.operation.memory_limit import MemoryLimit, extent_rules
from zsim.operation.rules import (
    pool_window,
    queue_rules,
    rebuild_window,
    scan_rules,
    sit_out_rules,
    txg_rules,
    vdev_window,
)
from zsim.operation.setup import plain_prefetch
from zsim.pool.recipes.recipe import small_blocks
from zsim.pool.recipes.styles import allocator_style
from zsim.scenario.releases.capacity import metaslab_shift
from zsim.scenario.releases.no_effect import reasons, without_effect
from zsim.scenario.releases.profile import (
    BEHAVIOURS,
    Operation,
    ReleaseProfile,
    load_release,
    release_names,
)

PACKAGE = Path(zsim.__file__).parent
OPERATIONS: tuple[Operation, ...] = ("resilver", "scrub", "rebuild", "expand", "remove")
VDEV = VdevModel(
    kind="raidz",
    parity=2,
    ashift=12,
    read_leaf=(-1, 1, 2, 3, 4, 5),
    write_leaf=(6, -1, -1, -1, -1, -1),
    data=4,
)
# Read while a run goes on, and from no rule before it.
READ_IN_RUNS = {
    "raidz_expand_max_copy_bytes": "operation/background/expansion.py",
    "vdev_removal_max_span": "operation/background/removal.py",
    "zfetch_max_distance": "prediction/inputs/clients.py",
    "zfs_rebuild_max_segment": "operation/background/rebuild.py",
    "zfs_rebuild_scrub_enabled": "prediction/other_ways.py",
    "zfs_remove_max_segment": "operation/background/removal.py",
    "zfs_resilver_defer_percent": "operation/pool.py",
    "zfs_scrub_after_expand": "prediction/other_ways.py",
    "zfs_vdev_async_write_max_active": "operation/background/copying.py",
    "zfs_vdev_removal_max_active": "operation/background/copying.py",
    "zfs_vdev_removal_min_active": "operation/background/copying.py",
}
NAMES = sorted({name for release in release_names() for name in load_release(release).tunables})


def rules_of(release: ReleaseProfile) -> list[object]:
    """Return all that a run takes from a release before it starts."""
    found: list[object] = [
        queue_rules(release), plain_prefetch(release), release.order, release.second_target,
        release.indirect_shift, pool_window([VDEV], release),
        small_blocks(release, 32 << 10), sit_out_rules(release),
    ]  # fmt: skip
    found += [allocator_style(release, cpus=cpus) for cpus in (2, 64)]
    for operation in OPERATIONS:
        found += [scan_rules(release, operation), txg_rules(release, operation)]
        found += [release.txg_slice(operation, busy) for busy in (False, True)]
    found += [metaslab_shift(1 << shift, release) for shift in (28, 33, 36, 40, 44, 52)]
    if release.inflight != "blocks":
        found.append(vdev_window(VDEV, release))
    if release.rebuild != "none":
        found.append(rebuild_window(PlaneModel(leaves=(), vdevs=(VDEV,)), 0, release, 1 << 40))
    for memory in (1 << 30, 1 << 42):
        found += [release.most_dirty(memory), release.busy_dirty(memory)]
        limit = MemoryLimit(release, memory, 1 << 50)
        found += [limit.hard, limit.soft, limit.interval, limit.strict, limit.strategy, extent_rules(release)]
    return found


@functools.cache
def rules_as_released(release: str) -> list[object]:
    return rules_of(load_release(release))


def matters(release: str, name: str) -> bool:
    """Tell whether some value of a tunable changes a rule."""
    profile = load_release(release)
    value = profile.tunables[name]
    for other in {0, 1, 2, 3, value // 2, value * 2, value + 7, 1 << 40} - {value}:
        try:
            changed = rules_of(profile.with_tunables({name: other}))
        except InputError:
            continue
        except (ZeroDivisionError, ValueError):
            return True
        if changed != rules_as_released(release):
            return True
    return False


def texts_in(module: str) -> set[object]:
    tree = ast.parse((PACKAGE / module).read_text())
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("name", NAMES)
def test_a_tunable_is_simulated_or_says_why_not(name: str) -> None:
    holders = [release for release in release_names() if name in load_release(release).tunables]
    simulated = name in READ_IN_RUNS or any(matters(release, name) for release in holders)
    assert simulated != (name in reasons("tunables"))
    if name in READ_IN_RUNS:
        assert name in texts_in(READ_IN_RUNS[name])


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_a_behaviour_is_asked_for_or_says_why_not(name: str) -> None:
    asked = name in attributes_read()
    in_profile = rules_differ_by(name)
    assert (asked or in_profile) != (name in reasons("behaviours"))


@functools.cache
def attributes_read() -> set[str]:
    """Return the names of all attributes that zsim reads outside of the profile itself."""
    return {
        node.attr
        for path in PACKAGE.rglob("*.py")
        if path.name != "profile.py" and "_data" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }


def rules_differ_by(name: str) -> bool:
    """Tell whether the profile itself looks at a behaviour for a rule: of a scan's pause, of writers."""
    return name in ("pause_rule", "dirty_data_cap")


@pytest.mark.parametrize("what", ["tunables", "behaviours"])
def test_nothing_is_listed_that_no_release_has(what: str) -> None:
    known = set(NAMES) if what == "tunables" else set(BEHAVIOURS)
    listed = reasons(what)  # type: ignore[arg-type]
    assert listed.keys() <= known
    assert all(
        reason[0].islower() or reason.split()[0].isupper() or "RAID-Z" in reason for reason in listed.values()
    )
    assert not any(reason.endswith(".") for reason in listed.values())


def test_a_tunable_that_is_set_in_vain_says_so() -> None:
    told = without_effect(load_release("openzfs-2.3"), ["zfs_vdev_max_active", "zfs_vdev_scrub_max_active"])
    assert told == (
        "zfs_vdev_max_active is known, but has no effect here: the limits of the I/O classes are simulated, "
        "their common limit is not",
    )
    assert without_effect(load_release("freebsd-9.2"), ["vfs.zfs.write_limit_max"])[0].startswith("zfs_write")


def test_a_prediction_warns_of_it() -> None:
    from zsim.case.resolve import resolve
    from zsim.prediction.api import warnings
    from zsim.scenario.model import Scenario

    tuned = Scenario(layout="raidz2x6", fill=0.5, tunables={"zfs_vdev_max_active": 1, "zfs_txg_timeout": 10})
    told = warnings(resolve(tuned))
    assert [text.split()[0] for text in told] == ["zfs_vdev_max_active"]
