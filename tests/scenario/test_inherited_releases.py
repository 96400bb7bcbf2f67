"""Releases that state what differs from another one are what they were when each stated everything."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.provenance import provenance
from zsim.case.resolve import resolve
from zsim.planning.timeline.rules import rules_of
from zsim.prediction.api import models_used
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import BEHAVIOURS, ReleaseProfile, load_release

KEPT: dict[str, str] = json.loads(
    (Path(__file__).parents[1] / "data" / "release_profiles.json").read_text(encoding="utf-8")
)


def plain(profile: ReleaseProfile) -> dict[str, Any]:
    """Return all that a profile says, sources included."""
    names = ("name", "series", "family", "version", "hz", *BEHAVIOURS)
    details = profile.details
    return {name: getattr(profile, name) for name in names} | {
        "tunables": {
            name: [value, details[name].unit, details[name].source, details[name].kind]
            for name, value in profile.tunables.items()
        },
        "hz_source": [profile.details_of_hz.source, profile.details_of_hz.kind],
    }


@pytest.mark.parametrize("name", KEPT)
def test_a_profile_is_the_kept_one(name: str) -> None:
    """A wanted change: take the new hash, and say under Changed results what differs."""
    text = json.dumps(plain(load_release(name)), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == KEPT[name]


def test_a_file_of_ones_own_states_one_difference(tmp_path: Path) -> None:
    own = tmp_path / "tuned.toml"
    setting = '{ value = 9, unit = "I/Os", source = "our site", kind = "assumed" }'
    head = 'name = "tuned-2.2"\nfamily = "tuned"\nfirst = "2.2.0"\nlast = "2.2.0"\nbase = "openzfs-2.2"\n'
    own.write_text(f"{head}[tunables]\nzfs_vdev_scrub_max_active = {setting}\n")
    mine, base = load_release(str(own)), load_release("openzfs-2.2.0")
    changed = {name for name in base.tunables if mine.tunables[name] != base.tunables[name]}
    assert changed == {"zfs_vdev_scrub_max_active"}
    assert (mine.hz, mine.year, mine.scan) == (base.hz, base.year, base.scan)
    assert mine.details["zfs_txg_timeout"] == base.details["zfs_txg_timeout"]


def test_a_file_without_versions_is_its_base_with_a_few_lines(tmp_path: Path) -> None:
    """As the how-to says: `base` and the few lines that your systems change; patch levels come with it."""
    own = tmp_path / "tuned.toml"
    base = load_release("openzfs-0.8")
    patched = next(name for name in base.tunables if base.tunables[name] != _first("openzfs-0.8", name))
    own.write_text(_own("zfs_vdev_scrub_max_active", '7, unit = "I/Os"'))
    mine = load_release(str(own))
    assert (mine.series, mine.version) == (base.series, base.version)
    assert mine.name == f"tuned ({base.name})"
    assert mine.tunables == {**base.tunables, "zfs_vdev_scrub_max_active": 7}
    own.write_text(_own(patched, f'7, unit = "{base.details[patched].unit}"'))
    assert load_release(str(own)).tunables == {**base.tunables, patched: 7}


def _own(name: str, value: str) -> str:
    entry = f'{{ value = {value}, source = "our site", kind = "assumed" }}'
    return f'base = "openzfs-0.8"\n[tunables]\n{name} = {entry}\n'


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("zfs_vdev_scrub_max_actve", '7, unit = "I/Os"', "no such tunable; try zfs_vdev_scrub_max_active"),
        ("zfs_scan_vdev_limit", '16, unit = "MiB"', "the unit is bytes per leaf here"),
        ("zfs_vdev_scrub_max_active", '-7, unit = "I/Os"', r"it is a whole number from 0 \[I/Os\]"),
        ("zfs_vdev_scrub_max_active", '2.5, unit = "I/Os"', r"it is a whole number from 0 \[I/Os\]"),
    ],
)
def test_a_slip_in_a_file_of_ones_own_is_refused(tmp_path: Path, name: str, value: str, told: str) -> None:
    """Each was passed over, or taken for a number of the other unit."""
    own = tmp_path / "tuned.toml"
    own.write_text(_own(name, value))
    with pytest.raises(InputError, match=f"tuned.toml: tunables.*{told}"):
        load_release(str(own))


def _first(name: str, tunable: str) -> int:
    return load_release(f"{name}.0").tunables.get(tunable, -1)


def test_a_release_of_ones_own_is_predicted_with(tmp_path: Path) -> None:
    own = tmp_path / "tuned.toml"
    entry = '{ value = 65536, unit = "bytes per data drive", source = "our site", kind = "assumed" }'
    head = 'name = "tuned"\nfamily = "openzfs"\nfirst = "2.3.0"\nlast = "2.3.9"\nbase = "openzfs-2.3"\n'
    own.write_text(f"{head}[tunables]\nzfs_scan_vdev_limit = {entry}\n")
    used = models_used(resolve(Scenario(layout="raidz2x6", fill=0.5, release=str(own))))
    assert ("releases", str(own)) in used
    assert f"releases/{own}" in str(provenance(models=used)["models"])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('base = "openzfs-2.9"', "release of the catalogue"),
        ('base = "../other.toml"', "release of the catalogue"),
        ('base = "openzfs-2.2"\nremoved = ["zfs_nonsense"]', "the base has no such tunable"),
        ("base = 2", "text is needed"),
    ],
)
def test_a_wrong_base_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f'name = "own-2.2"\nfamily = "own"\nfirst = "2.2.0"\nlast = "2.2.0"\n{line}\n')
    with pytest.raises(InputError, match=reason):
        load_release(str(own))


def test_a_release_that_is_based_on_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "models" / "releases"
    folder.mkdir(parents=True)
    text = 'name = "a-1.0"\nfamily = "a"\nfirst = "1.0"\nlast = "1.0"\nbase = "a-1.0"\n'
    (folder / "a-1.0.toml").write_text(text)
    monkeypatch.setattr(model_data, "models_directory", lambda: tmp_path / "models")
    with pytest.raises(InputError, match="based on itself"):
        load_release("a-1.0")


def test_the_hash_of_a_release_is_that_of_its_bases_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest() -> str:
        return str(provenance(models=[("releases", "openzfs-2.4")])["models"])

    before, plain_hash = digest(), model_data.sha256_of
    monkeypatch.setattr(
        model_data, "sha256_of", lambda path: "x" if "openzfs-2.1" in path.name else plain_hash(path)
    )
    assert digest() != before


@pytest.mark.parametrize(
    ("head", "name"),
    [("", "tuned (openzfs-2.3.9)"), ('name = "site-2026"\n', "site-2026 (openzfs-2.3.9)"),
     ('name = "openzfs-2.3"\n', "openzfs-2.3.9")],
)  # fmt: skip
def test_a_release_of_ones_own_is_called_by_its_own_name(tmp_path: Path, head: str, name: str) -> None:
    """It was called openzfs-2.3.9, as if nothing of it were otherwise."""
    path = tmp_path / "tuned.toml"
    entry = '{ value = 8, unit = "I/Os", source = "site", kind = "assumed" }'
    path.write_text(f'{head}base = "openzfs-2.3"\n[tunables]\nzfs_vdev_scrub_max_active = {entry}\n')
    found = load_release(path)
    assert (found.name, found.version, found.family) == (name, "2.3.9", "openzfs")
    assert rules_of(found, "sorted").table == rules_of(load_release("openzfs-2.3"), "sorted").table
