"""Layouts that a person names beside a scan: ``8x 16TB in raidz2``, or the topology of TrueNAS' pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.observe.devices.models import model_of
from zsim.observe.devices.sentences import MOST_TEXT, SaidDrives, said_lines
from zsim.observe.devices.usual_sizes import usual_bytes
from zsim.observe.texts import nice_bytes
from zsim.scenario.layout import Layout
from zsim.vdevs.kind import word_of_parity

_KIND = r"(?P<kind>raid-?z-?(?P<parity>[1-3])?|mirror(?:s|ed)?)"
_TOPOLOGY = re.compile(
    rf"(?P<times>\d{{1,3}}) ?x ?{_KIND}[ \t]*\|[ \t]*(?P<wide>\d{{1,3}}) wide"
    r"(?:[ \t]*\|[ \t]*(?P<size>\d{1,4}(?:\.\d{1,3})?) (?P<unit>[GTP])iB)?",
    re.IGNORECASE,
)
"""Of the topology of a pool in the web interface of TrueNAS SCALE: ``1 x RAIDZ2 | 8 wide | 14.55 TiB``."""
_COUNTED = r"(?P<wide>\d{1,3})"
_TIMES = r"(?P<times>\d{1,3})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\w.]){_COUNTED} ?[x\u00d7*] ?(?:\w{{1,12}} ){{0,3}}?\d{{1,2}}(?:\.\d)? ?TB\b"
        rf"[^.;\n]{{0,60}}?\b{_KIND}\b",
        rf"\b{_KIND}\b(?: pool| vdev| array)?,? (?:of |with |over |on )?{_COUNTED}"
        r"(?: ?[x\u00d7*]| (?:drives|disks|hdds|wide)\b)",
        rf"(?<![\w.])(?:{_TIMES} ?[x\u00d7*] ?)?{_COUNTED}[ -]?(?:wide|drives?|disks?|hdds?)(?: wide)?,?"
        rf" (?:in |as |in a |as a )?{_KIND}\b",
    )
)
_SEVERAL = re.compile(r"\bvdevs\b|\b(?:two|three|four|\d{1,2}) ?x? ?(?:raid-?z|mirrors?\b)", re.IGNORECASE)
"""What is said of several vdevs is read by no form above."""


@dataclass(frozen=True, slots=True)
class SaidLayout:
    """A layout that a text names.

    Attributes
    ----------
    layout : str
        As a scenario has it.
    """

    layout: str


def said_layouts(text: str) -> Iterator[SaidLayout | SaidDrives]:
    """Yield the layouts that sentences name, and what a topology shows, with the capacity of its drives."""
    for shown in _TOPOLOGY.finditer(text[:MOST_TEXT]):
        one = _one(shown)
        if one:
            yield SaidLayout(one if shown["times"] == "1" else f"{shown['times']}*{one}")
            if shown["size"]:
                size = usual_bytes(nice_bytes(f"{shown['size']}{shown['unit']}") or 0)
                yield SaidDrives(model_of(f"{size / 10**12:g} TB", size), None)
            return
    for line in said_lines(text, labelled=True):
        if _SEVERAL.search(line):
            continue
        for form in _FORMS:
            if (match := form.search(line)) and (one := _one(match)):
                times = match.groupdict().get("times") or "1"
                yield SaidLayout(one if times == "1" else f"{times}*{one}")
                break


def _one(match: re.Match[str]) -> str:
    """Return the vdev, or the mirrors, of a match; empty where it can be none."""
    wide, has_parity = int(match["wide"]), match["kind"].lower().startswith("raid")
    in_pairs = not has_parity and wide > 3 and wide % 2 == 0 and not match.groupdict().get("times")
    one = word_of_parity(int(match["parity"] or 1) if has_parity else 0, 2 if in_pairs else wide)
    layout = f"{wide // 2}*{one}" if in_pairs else one
    try:
        return str(Layout.parse(layout))
    except InputError:
        return ""


def recognises(text: str) -> bool:
    """Tell whether a text names a layout; see `zsim.observe.outputs.Reader`."""
    return next(said_layouts(text), None) is not None


def read(text: str, name: str) -> tuple[SaidLayout | SaidDrives, ...]:
    """Read them."""
    del name
    return tuple(said_layouts(text))
