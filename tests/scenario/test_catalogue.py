"""The catalogue: found beside the package or inside it, read with errors that name file and field."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from zsim.errors import InputError
from zsim.scenario import catalogue
from zsim.scenario.catalogue import Quantity

PATH = Path("drive.toml")
GOOD = {"value": 3, "unit": "ms", "source": "data sheet, page 2", "kind": "datasheet"}


def test_models_and_validation_are_found() -> None:
    assert (catalogue.models_directory() / "releases").is_dir()
    assert catalogue.validation_directory().is_dir()
    assert catalogue.DEFAULT_DRIVE in catalogue.names("drives")


def test_an_installed_package_carries_its_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "zsim" / "_data" / "models"
    inside.mkdir(parents=True)
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(catalogue, "_PACKAGE", tmp_path / "zsim")
    catalogue.data_directory.cache_clear()
    try:
        assert catalogue.models_directory() == inside
        with pytest.raises(InputError, match="'validation' is missing"):
            catalogue.validation_directory()
        inside.rmdir()
        catalogue.data_directory.cache_clear()
        assert catalogue.models_directory() == tmp_path / "models"
    finally:
        catalogue.data_directory.cache_clear()


def test_a_model_is_found_by_name_or_path(tmp_path: Path) -> None:
    path = catalogue.find("releases", " OpenZFS-2.3 ")
    assert path.name == "openzfs-2.3.toml"
    assert catalogue.find("releases", str(path)) == path
    assert catalogue.load("releases", "openzfs-2.3")["name"] == "openzfs-2.3"
    assert catalogue.model_hash("releases", "openzfs-2.3") == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("openzfs-23", "try openzfs-2.3"), ("zzz", "known are"), ("nowhere.toml", "no such file")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(InputError, match="^release ") as caught:
        catalogue.find("releases", name)
    assert hint in str(caught.value)


def test_suggestions() -> None:
    assert catalogue.suggest("HD103UI", ["hd103uj", "st3000dm001"]) == "try hd103uj"
    assert catalogue.suggest("x", []) == "none is known"
    assert catalogue.suggest("zzzzzz", [f"name{i:02d}" for i in range(25)]).endswith("and 5 more")


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
        catalogue.load_toml(path, "scenario")
    assert reason in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_number_is_read_with_its_source() -> None:
    assert catalogue.quantity_of({"a": {"b": GOOD}}, "a.b", PATH, "ms") == Quantity(
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
    with pytest.raises(InputError, match=f"drive.toml: {missing} is missing"):
        catalogue.quantity_of({"seek": entry}, "seek", PATH)
    assert missing.startswith(catalogue.unsourced_numbers({"seek": entry})[0])


def test_the_unit_must_be_the_one_expected() -> None:
    with pytest.raises(InputError, match=r"drive.toml: seek.unit 'ms' cannot be used: the unit is s here"):
        catalogue.quantity_of({"seek": GOOD}, "seek", PATH, "s")


def test_missing_tables_and_texts_are_refused_by_file_and_field() -> None:
    data = {"a": {"b": "x", "n": 3}}
    assert catalogue.table_of(data, "a", PATH) == data["a"]
    assert catalogue.text_of(data, "a.b", PATH, ("x", "y")) == "x"
    for call in (
        lambda: catalogue.table_of(data, "a.b", PATH),
        lambda: catalogue.table_of(data, "c", PATH),
        lambda: catalogue.text_of(data, "a.n", PATH),
        lambda: catalogue.text_of(data, "a.b", PATH, ("z",)),
        lambda: catalogue.text_of(data, "a.b.c", PATH),
    ):
        with pytest.raises(InputError, match=r"^drive\.toml: "):
            call()


def test_bare_numbers_anywhere_are_found() -> None:
    data = {"year": 2014, "x": [1, {"y": 2}], "flag": True, "name": "a", "ok": {**GOOD, "value": [1, 2]}}
    assert catalogue.unsourced_numbers(data, free=("year",)) == ["x[0]", "x[1].y"]
