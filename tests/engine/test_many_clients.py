"""As many clients as somebody asks for: what they have under way has its place in memory."""

from __future__ import annotations

import numpy as np
import pytest

import zsim
from zsim.drives.catalogue import load_drive
from zsim.engine.compiled.plane import Room, _sizes
from zsim.engine.model import ClientModel, LeafModel, PlaneModel, VdevModel
from zsim.operation.rules import queue_rules, scan_rules
from zsim.scan.items import ScanItems


def _model(count: int, blocks: int) -> PlaneModel:
    release, drive = zsim.load_release("openzfs-2.3"), load_drive("generic-7200rpm-cmr").parameters()
    return PlaneModel(
        leaves=tuple(LeafModel(drive=drive) for _ in range(3)),
        vdevs=(VdevModel(kind="raidz", parity=1, ashift=12, read_leaf=(0, 1, 2), write_leaf=(-1, -1, -1)),),
        queue=queue_rules(release),
        scan=scan_rules(release, "scrub"),
        clients=(ClientModel(count=count, blocks=blocks),),
    )


def _children(count: int, blocks: int) -> int:
    none, one = np.zeros(0, np.int64), np.zeros(1, np.int64)
    items = ScanItems(
        one, one, one, one == 0, one, one, none, none, prefetch_first=one - 1, prefetch_next=one - 1,
        in_memory=one == 1,
    )  # fmt: skip
    return _sizes(_model(count, blocks), items, Room(1, 1), 1, 1, 0, 0, 1)["children"]


@pytest.mark.parametrize(("count", "blocks"), [(3_000, 8), (10_000, 8), (200, 1)])
def test_child_ios_of_all_clients_have_a_place(count: int, blocks: int) -> None:
    assert _children(count, blocks) - _children(0, 1) >= 3 * count * blocks
