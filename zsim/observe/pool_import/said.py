"""The import of a pool that a sentence describes: its fields, with what is assumed of the rest."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.case.resolve import resolve
from zsim.observe.pool_import.finding import Finding
from zsim.observe.pool_import.given.pool_in_words import PoolInWords
from zsim.observe.pool_import.importing import ImportedPool
from zsim.scenario.model import Scenario

SENTENCE = "the sentence"


def import_said(said: PoolInWords, overrides: Sequence[str] = ()) -> ImportedPool:
    """Return the import of a pool in words.

    Parameters
    ----------
    said : PoolInWords
    overrides : sequence of str
        ``KEY=VALUE``: fields that are known better.

    Raises
    ------
    InputError
        When what it says cannot be.
    """
    scenario = Scenario.from_dict(said.fields).with_overrides(overrides)
    kept = scenario.stated()
    unread = ", ".join(said.unread)
    return ImportedPool(
        pool="",
        scenario=scenario,
        findings=tuple(Finding(name, kept[name], SENTENCE) for name in said.fields if name in kept),
        assumptions=resolve(scenario).assumptions,
        notes=(f"not understood, and ignored: {unread}",) if unread else (),
        progress=None,
        contents={SENTENCE: ["a pool in words"]},
    )
