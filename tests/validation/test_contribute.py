"""The case of the how-to is one that can be read and predicted."""

from __future__ import annotations

import json
import re
from pathlib import Path

from zsim.scenario.model import Scenario
from zsim.validation.formats import case_toml

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "contribute-a-case.md"


def test_the_case_of_the_how_to_is_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.S)
    (tmp_path / "case.toml").write_text("\n".join(blocks), encoding="utf-8")
    file = case_toml.read(tmp_path)
    names = ["time", "resilvered after 1h59m", "the second waited for the first"]
    assert [claim.name for claim in file.claims] == names
    assert file.main_claim().seen()[0] == 4 * 3600 + 20 * 60
    assert [claim.tolerance for claim in file.claims][:2] == [0.3, 0.3]
    Scenario.from_dict(file.fields("main"))


def test_the_row_of_the_how_to_is_one_object_a_line() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines():
        assert {"id", "kind", "confidence"} <= set(json.loads(line))
