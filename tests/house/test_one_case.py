"""A scenario becomes the case once: what one prediction looks up, derives and builds."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import zsim
from zsim.case import case as case_room
from zsim.case import resolve as door
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import DRIVE_CLASSES, USES, in_world
from zsim.drives import catalogue
from zsim.drives.models.model import DriveModel
from zsim.pool.recipes.histories import History
from zsim.prediction import api, work
from zsim.prediction.inputs.ensemble import MEMBERS, draw_members, unknowns
from zsim.prediction.inputs.hardware import plane_model, under
from zsim.scenario.model import Scenario

LOOKS_UP = {"load_drive", "load_enclosure", "load_history", "load_product", "load_release", "shipped"}
BELOW = ("scan", "engine", "operation", "prediction")


class Counted:
    """Counts calls of functions, and with which first two arguments."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch, self.calls = patch, Counter[str]()
        self.names: dict[str, list[Any]] = {}
        self.seconds: dict[str, list[Any]] = {}

    def watch(self, owner: object, name: str) -> None:
        """Count the calls of an attribute of a module or class."""
        original: Callable[..., Any] = getattr(owner, name)
        self.names[name], self.seconds[name] = [], []

        def counting(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            self.names[name].append(args[0] if args else None)
            self.seconds[name].append(args[1] if len(args) > 1 else None)
            return original(*args, **kwargs)

        self.patch.setattr(owner, name, counting)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted(monkeypatch)
    found.watch(catalogue, "load_drive")
    for name in ("load_history", "load_enclosure", "shipped"):
        found.watch(door, name)
    found.watch(DriveModel, "with_capacity")
    found.watch(DriveModel, "parameters")
    found.watch(api, "resolved")
    found.watch(work, "plane_model")
    found.watch(case_room, "pool_of")
    return found


def test_one_prediction_looks_everything_up_once(counted: Counted) -> None:
    """The default question: no drive and no history are named, so that worlds have several of each."""
    found = api.predict(Scenario(layout="raidz2x6", fill=0.62))
    assert found.uncertainty is not None
    worlds = found.uncertainty.members
    assert MEMBERS // 2 < worlds <= 2 * MEMBERS
    calls = counted.calls
    assert calls["resolved"] == 1
    assert calls["shipped"] == 1
    assert sorted(counted.names["load_drive"]) == sorted(name for name, _ in DRIVE_CLASSES)
    # One model a drive and capacity: those of the case, and those that its worlds have.
    sizes = list(zip(counted.names["with_capacity"], counted.seconds["with_capacity"], strict=True))
    assert len(sizes) == len({(model.name, size) for model, size in sizes})
    assert calls["with_capacity"] <= len(DRIVE_CLASSES) + worlds
    assert set(counted.names["load_history"]) == set(USES)
    assert calls["load_enclosure"] == 0
    # A plane a world, and what-ifs derived from it; each has the numbers of its two kinds of drives.
    assert calls["plane_model"] == worlds
    assert calls["parameters"] <= 2 * worlds + len(DRIVE_CLASSES) + 3


def test_a_named_drive_is_looked_up_once(counted: Counted) -> None:
    case = api.case_of(Scenario(layout="mirror2", drive="hd103uj", history="vm-host", enclosure="jbod-60"))
    assert counted.calls["load_drive"] == 1
    assert counted.names["load_history"] == ["vm-host"]
    assert counted.names["load_enclosure"] == ["jbod-60"]
    assert case.drive is case.new_drive
    assert not case.candidates.drives
    assert not case.candidates.histories


def test_no_world_looks_anything_up(counted: Counted) -> None:
    case = api.case_of(Scenario(layout="raidz2x6"))
    members = draw_members(unknowns(case), 1)
    names = ("load_drive", "load_history", "load_enclosure", "shipped")
    before = counted.calls.copy()
    worlds = [in_world(case, member) for member in members]
    for world in worlds:
        plane_model(world)
    assert {name: counted.calls[name] for name in names} == {name: before[name] for name in names}
    # A capacity that a world of the case had once is there for the next one.
    before = counted.calls.copy()
    assert all(
        in_world(case, member).drive is world.drive for member, world in zip(members, worlds, strict=True)
    )
    assert counted.calls["with_capacity"] == before["with_capacity"]


def test_a_case_holds_objects_where_the_scenario_has_names() -> None:
    case = door.resolve(Scenario(layout="raidz2x6", enclosure="jbod-60"))
    assert isinstance(case.drive, DriveModel)
    assert isinstance(case.new_drive, DriveModel)
    assert isinstance(case.history, History)
    assert [each.enclosure.name for each in case.ports] == ["jbod-60"]
    text = {each.name for each in fields(Case) if isinstance(getattr(case, each.name), str)}
    assert text == {"operation", "old_drive", "target", "engine"}, "each one of few words, no name of a model"


def test_a_world_is_a_pure_function_of_case_and_draw() -> None:
    case = door.resolve(Scenario(layout="raidz2x6"))
    member = Member(drive="generic-5400rpm-cmr", fill=0.3, history="database", write_cache=False, load=5.0)
    world = in_world(case, member)
    assert world == in_world(case, member)
    assert (world.drive.name, world.new_drive.name) == ("generic-5400rpm-cmr",) * 2
    assert (world.fill, world.alloc) == (0.3, round(0.3 * case.pool_size))
    assert (world.history.name, world.write_cache, world.load[0].kind) == ("database", False, "random-read")
    assert in_world(case, Member()) == case


def test_a_stated_new_drive_is_that_of_every_world() -> None:
    case = door.resolve(Scenario(layout="raidz2x6", new_drive="wd40efrx", drive_size="4TB"))
    world = in_world(case, Member(drive="generic-5400rpm-cmr"))
    assert (world.drive.name, world.new_drive.name) == ("generic-5400rpm-cmr", "wd40efrx")


def test_the_plane_of_a_what_if_is_that_of_its_case() -> None:
    """Deriving it from the world's plane gives what building it anew would."""
    case = door.resolve(Scenario(layout="mirror2", release="openzfs-2.3"))
    plane = plane_model(case)
    for other in (
        replace(case, operation="rebuild"),
        replace(case, release=case.release.with_tunables({"zfs_scan_legacy": 1})),
        replace(case, seed=5),
    ):
        assert under(plane, other) == plane_model(other)


def test_no_file_below_the_door_can_look_a_name_up() -> None:
    found, files = set(), 0
    for room in BELOW:
        for path in (Path(zsim.__file__).parent / room).rglob("*.py"):
            files += 1
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            names = {each.name for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names}
            found |= {(path.name, name) for name in names & LOOKS_UP}
    assert files > 50
    assert not found


def test_what_a_legacy_scan_is_compared_with_is_looked_up_at_the_door() -> None:
    legacy, own = (
        door.resolve(Scenario(layout="mirror2", release=name)) for name in ("zol-0.7", "openzfs-2.3")
    )
    assert legacy.candidates.sorted_release is not None
    assert legacy.candidates.sorted_release.order == "sorted"
    assert own.candidates.sorted_release is None


def test_a_history_of_its_own_counts_as_the_use_with_records_most_like_its() -> None:
    known = door.resolve(Scenario(layout="mirror2", history="vm-host"))
    assert USES[known.use] == "vm-host"
    other = door.resolve(Scenario(layout="mirror2", history="system-disk"))
    records = [door.load_history(name).mean_record() for name in USES]
    own = other.history.mean_record()
    assert abs(records[other.use] - own) == min(abs(each - own) for each in records)
