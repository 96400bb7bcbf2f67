"""What ZFS does at an event, by release: the rules of ``models/timeline/rules.toml`` for one release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from zsim.base import model_data
from zsim.scenario.releases.profile import ReleaseProfile, version_numbers
from zsim.vdevs.kind import kinds

FILE = "rules.toml"
SecondTarget = Literal["restart", "defer", "defer-unless-early"]
# Where the code of other systems comes from, on the line of OpenZFS versions.
LINES = {"freebsd-9": (0, 6), "freebsd-10": (0, 6, 5), "solaris": (0, 6)}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as it holds for a release.

    Attributes
    ----------
    name, choice, text, source : str
        What it is about, what the release does, the same for people, and where that was read.
    """

    name: str
    choice: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one release.

    Attributes
    ----------
    release : str
    second_target : {"restart", "defer", "defer-unless-early"}
        What a resilver does when another drive needs one while it runs.
    early : float
        Share issued below which ``defer-unless-early`` restarts.
    checkpoint_s : float
        Longest time for which a sorted scan collects before it issues everything [s].
    txg_s, import_wait_s : float
        Length of a transaction group, and what a scan waits after an import [s].
    sorted_scan, scrub_after_rebuild, scrub_after_expansion : bool
    rebuilds : frozenset of str
        Kinds of vdevs that can be rebuilt sequentially.
    table : dict of str to Rule
        All that come from the table.
    """

    release: str
    second_target: SecondTarget
    early: float
    checkpoint_s: float
    txg_s: float
    import_wait_s: float
    sorted_scan: bool
    scrub_after_rebuild: bool
    scrub_after_expansion: bool
    rebuilds: frozenset[str]
    table: dict[str, Rule]

    def choice(self, name: str) -> str:
        """Return what the release does; empty where it has no such thing."""
        rule = self.table.get(name)
        return rule.choice if rule is not None else ""

    def text(self, name: str) -> str:
        """Return the rule for people, empty if there is none."""
        rule = self.table.get(name)
        return rule.text if rule is not None else ""

    def restarts(self, share: float) -> bool:
        """Tell whether a resilver that is so far done begins again when another drive needs one.

        Notes
        -----
        OpenZFS 0.7 spa.c spa_vdev_attach; 0.8 to 2.2 and 2.3 dsl_scan.c dsl_scan_sync.
        """
        if self.second_target == "defer-unless-early":
            return share < self.early
        return self.second_target == "restart"


def rules_of(release: ReleaseProfile, order: str) -> Rules:
    """Return the rules of a release, its tunables applied.

    Parameters
    ----------
    release : ReleaseProfile
        With the tunables of the scenario.
    order : {"legacy", "sorted"}
        The order of the scan.
    """
    data = _data()
    table = {name: rule for name, rule in _table(data, _line(release)).items() if rule is not None}
    tunables = release.tunables
    txg = float(tunables.get("zfs_txg_timeout", _number(data, "numbers.txg")))
    waits = table["scan_after_import"].choice == "5-txgs"
    after_rebuild = table.get("scrub_after_rebuild")
    return Rules(
        release=release.name,
        second_target=release.second_target,
        early=tunables.get("zfs_resilver_defer_percent", 0) / 100,
        checkpoint_s=float(tunables.get("zfs_scan_checkpoint_intval", 7200)),
        txg_s=txg,
        import_wait_s=txg * _number(data, "numbers.import_txgs") if waits else 0.0,
        sorted_scan=order == "sorted",
        scrub_after_rebuild=after_rebuild is not None
        and (after_rebuild.choice == "always" or bool(tunables.get("zfs_rebuild_scrub_enabled", 1))),
        scrub_after_expansion=bool(tunables.get("zfs_scrub_after_expand", 0)),
        rebuilds=frozenset(name for name, kind in kinds().items() if kind.can_be_rebuilt_by(release)),
        table=table,
    )


def all_rules() -> tuple[tuple[str, Rule], ...]:
    """Return every rule of the table with the first release of which it holds, for documents."""
    eras = ((name, era) for name, found in _data().items() if isinstance(found, list) for era in found)
    return tuple((era["from"], Rule(name, era["choice"], era["text"], era["source"])) for name, era in eras)


def rules_hash() -> str:
    """Return the SHA-256 of the file of rules."""
    return model_data.sha256_of(model_data.models_directory() / "timeline" / FILE)


def _data() -> Mapping[str, object]:
    return model_data.load_toml(model_data.models_directory() / "timeline" / FILE, "timeline rules")


def _number(data: Mapping[str, object], dotted: str) -> float:
    return float(
        model_data.quantity_of(data, dotted, model_data.models_directory() / "timeline" / FILE).value
    )


def _line(release: ReleaseProfile) -> tuple[int, ...]:
    """Return where a release stands on the line of OpenZFS versions."""
    for prefix, place in LINES.items():
        if f"{release.family}-{release.version}".startswith(prefix):
            return place
    return version_numbers(release.version)


def _table(data: Mapping[str, object], line: tuple[int, ...]) -> dict[str, Rule | None]:
    found: dict[str, Rule | None] = {}
    for name, eras in data.items():
        if not isinstance(eras, list):
            continue
        known = [era for era in eras if version_numbers(era["from"]) <= line]
        era = known[-1] if known else None
        found[name] = None if era is None else Rule(name, era["choice"], era["text"], era["source"])
    return found
