"""Room in memory is made before what is large."""

from __future__ import annotations

import pytest

from zsim.prediction.inputs import room


def test_room_is_made_for_what_is_large_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(room, "give_back", lambda: made.append("room"))
    room.make_room(room.LARGE_BLOCKS)
    assert made == []
    room.make_room(room.LARGE_BLOCKS + 1)
    assert made == ["room"]
