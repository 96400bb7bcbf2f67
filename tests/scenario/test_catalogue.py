"""The catalogue: found beside the package or inside it, read with errors that name file and field."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.model_data import Quantity

PATH = Path("drive.toml")
GOOD = {"value": 3, "unit": "ms", "source": "data sheet, page 2", "kind": "datasheet"}


def test_models_and_validation_are_found() -> None:
    assert (model_data.models_directory() / "releases").is_dir()
    assert model_data.validation_directory().is_dir()
    assert model_data.DEFAULT_DRIVE in model_data.names("drives")


def test_an_installed_package_carries_its_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "zsim" / "_data" / "models"
    inside.mkdir(parents=True)
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(model_data, "_PACKAGE", tmp_path / "zsim")
    model_data.data_directory.cache_clear()
    try:
        assert model_data.models_directory() == inside
        with pytest.raises(InputError, match="'validation' is missing"):
            model_data.validation_directory()
        inside.rmdir()
        model_data.data_directory.cache_clear()
        assert model_data.models_directory() == tmp_path / "models"
    finally:
        model_data.data_directory.cache_clear()


def test_a_model_is_found_by_name_or_path(tmp_path: Path) -> None:
    path = model_data.find("releases", " OpenZFS-2.3 ")
    assert path.name == "openzfs-2.3.toml"
    assert model_data.find("releases", str(path)) == path
    assert model_data.load("releases", "openzfs-2.3")["name"] == "openzfs-2.3"
    alone = model_data.find("releases", "openzfs-0.8")
    assert model_data.model_hash("releases", "openzfs-0.8") == hashlib.sha256(alone.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("openzfs-23", "try openzfs-2.3"), ("zzz", "known are"), ("nowhere.toml", "no such file")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(InputError, match="^release ") as caught:
        model_data.find("releases", name)
    assert hint in str(caught.value)


def test_suggestions() -> None:
    assert model_data.suggest("HD103UI", ["hd103uj", "st3000dm001"]) == "try hd103uj"
    assert model_data.suggest("x", []) == "none is known"
    assert model_data.suggest("zzzzzz", [f"name{i:02d}" for i in range(25)]).endswith("and 5 more")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a = 1\nb = = 2\n", "line 2"),
        (b"\xff\xfe", "UTF-8"),
        (None, "no such file"),
        ("folder", "is a directory"),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    tmp_path: Path, content: bytes | str | None, reason: str
) -> None:
    path = tmp_path / "mine.toml"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.mkdir()
    with pytest.raises(InputError) as caught:
        model_data.load_toml(path, "scenario")
    assert reason in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_number_is_read_with_its_source() -> None:
    assert model_data.quantity_of({"a": {"b": GOOD}}, "a.b", PATH, "ms") == Quantity(
        3, "ms", "data sheet, page 2", "datasheet"
    )


@pytest.mark.parametrize(
    ("entry", "missing"),
    [
        (3, "seek.unit"),
        ({**GOOD, "value": "3"}, "seek.value"),
        ({**GOOD, "value": True}, "seek.value"),
        ({**GOOD, "value": []}, "seek.value"),
        ({**GOOD, "unit": ""}, "seek.unit"),
        ({**GOOD, "source": " "}, "seek.source"),
        ({**GOOD, "kind": "guess"}, "seek.kind"),
        ({"value": 3, "unit": "ms", "kind": "datasheet"}, "seek.source"),
    ],
)
def test_a_number_without_unit_or_source_is_refused_and_found(entry: object, missing: str) -> None:
    with pytest.raises(InputError, match=f"drive.toml: {missing} (is missing|.+ cannot be used)"):
        model_data.quantity_of({"seek": entry}, "seek", PATH)
    assert missing.startswith(unsourced_numbers({"seek": entry})[0])


def test_the_unit_must_be_the_one_expected() -> None:
    with pytest.raises(InputError, match=r"drive.toml: seek.unit 'ms' cannot be used: the unit is s here"):
        model_data.quantity_of({"seek": GOOD}, "seek", PATH, "s")


def test_missing_tables_and_texts_are_refused_by_file_and_field() -> None:
    data = {"a": {"b": "x", "n": 3}}
    assert model_data.table_of(data, "a", PATH) == data["a"]
    assert model_data.text_of(data, "a.b", PATH, ("x", "y")) == "x"
    for call in (
        lambda: model_data.table_of(data, "a.b", PATH),
        lambda: model_data.table_of(data, "c", PATH),
        lambda: model_data.text_of(data, "a.n", PATH),
        lambda: model_data.text_of(data, "a.b", PATH, ("z",)),
        lambda: model_data.text_of(data, "a.b.c", PATH),
    ):
        with pytest.raises(InputError, match=r"^drive\.toml: "):
            call()


def test_bare_numbers_anywhere_are_found() -> None:
    data = {"year": 2014, "x": [1, {"y": 2}], "flag": True, "name": "a", "ok": {**GOOD, "value": [1, 2]}}
    assert unsourced_numbers(data, free=("year",)) == ["x[0]", "x[1].y"]
