"""Layouts as people write them ("2x mirror", "raidz2, 3 vdevs of 6", "RAID 10") in zsim's form."""

from __future__ import annotations

import re
from typing import NamedTuple

from zsim.vdevs.kind import word_of_parity

_PURPOSES = r"(?:special|s?log|cache|l2arc|(?:hot.?)?spare|dedup)s?\b"
OTHER_VDEVS = re.compile(rf"^\W*(?:\d+\s*[*x]?\s*)?{_PURPOSES}")
FOR_OTHERS = re.compile(rf"\b{_PURPOSES}")
"""What a vdev behind those with data is for: "raidz2x6 + mirrored SLOG"."""
BETWEEN_VDEVS = re.compile(r"\+|[,;](?![^(]*\))|\band\b(?![^(]*\))")
VDEV = re.compile(r"\braid-?z-?([123])?(?![\d:])|\bz([123])(?=\b|x\d)|\bmirror(?:ed|s)?(?=\d|\b)")
TIMES_MIRRORS = re.compile(r"\braid ?-?(?:10|1\+0)\b|\bstriped mirrors?\b|\bstripes? of mirrors\b")
CAPACITY = r"(?!\.?\d|\s*[tg]i?b?\b)"
"""Behind a number that is no capacity of drives."""
WIDTH = re.compile(
    r"\b(\d+)[ -]*(?:wide|way|drives?|disks?|devices?)\b|\(\s*(\d+)\s*\)|\bwidth[ =]*(\d+)"
    r"|\b(\d+) ?x ?[\d.]+ ?[tg]b\b"
)
OF_SO_MANY = re.compile(rf"\bof (\d+){CAPACITY}")
PAIR = re.compile(rf"(?<![\w.])(\d+)\s*[x*]\s*(\d+){CAPACITY}")
VDEVS_OF = re.compile(
    rf"(?<![\w.-])(\d+)\s*(?:\S+\s+)?vdevs?\s*(?:(?:of|with|x|,)\s*)?(?:\S+\s+of\s+)?(\d+){CAPACITY}"
)
"""So many vdevs of so many drives each, with or without their kind between."""
VDEVS = re.compile(r"(?<![\w.-])(\d+)\s*(?:equal |identical )?(?:top-level )?vdevs?\b")
BEFORE = re.compile(r"(?<![\w.])(\d+)\s*[x*]?\s*$")
_SINGLE = re.compile(r"\b(?:single|stripe[ds]?|raid-?0|jbod|no redundancy)\b")
_DRIVES = re.compile(
    r"(\d+)[ -]*(?:x\b|\*|wide|drives?|disks?|devices?)|\(\s*(\d+)\s*\)|(?:x|stripe)(?: of)? ?(\d+)\b"
)
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 2
    )
}
_NUMBER = re.compile(r"\b(?:" + "|".join(NUMBERS) + r")\b")


class _Said(NamedTuple):
    """How many vdevs, and of how many drives, a text says; None where it does not."""

    times: int | None
    wide: int | None


def layout_text(stated: object) -> str:
    """Return a layout in zsim's words, from one as people write it.

    ``mirror`` alone is of two drives, ``3-way mirror`` of three, ``raidz`` is raidz1; ``6-wide raidz2``,
    ``raidz2 (6 drives)``, ``raidz2-6`` and ``raidz2 x 6`` are raidz2x6; ``2x raidz2x6``, ``2 vdevs of
    raidz2x6``, ``raidz2, 2 vdevs of 6`` and ``2x6 raidz2`` are two of them; ``RAID 10 of 8 drives`` is four
    mirrors.  ``mirror-1`` and ``raidz2-0`` are names of vdevs.  Special, log, cache and spare vdevs are left
    out: they hold little of what is scanned.  What is not understood is left to `Layout.parse`, which
    refuses it.
    """
    text = _NUMBER.sub(lambda word: NUMBERS[word[0]], str(stated).lower())
    text = re.sub(r"\bmirrored pairs?\b", "mirror2", text.replace("\u00d7", "x")).replace("draid*", "draid2")
    if "draid" in text:
        counted = re.search(r"\((\d+) (?:drives|children), (\d+) spares?\)", text)
        bare = re.sub(r"\(.*?\)", "", text).strip()
        return f"{bare}:{counted[1]}c:{counted[2]}s" if counted and ":" not in bare else bare
    parts: list[str] = []
    for part in BETWEEN_VDEVS.split(text):
        if OTHER_VDEVS.match(part) or not part.strip() or (parts and FOR_OTHERS.search(part)):
            continue
        if parts and _belongs(parts[-1], part):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return "+".join(_vdev_text(part) for part in parts) if parts else text


def layouts_of_unknown_kind(stated: object) -> tuple[str, ...]:
    """Return the layouts that "3 vdevs of 6" may be, the commonest in the middle; none for other texts."""
    text = _NUMBER.sub(lambda word: NUMBERS[word[0]], str(stated).lower())
    said = None if _has_kind(text) or "draid" in text else VDEVS_OF.search(text)
    if said is None:
        return ()
    times, wide = int(said[1]), int(said[2])
    return tuple(f"{times}*{word_of_parity(parity, wide)}" for parity in _parities(wide))


def _parities(wide: int) -> tuple[int, ...]:
    """Return the parities that vdevs of a width may have: mirrors of two, RAID-Z of three and more."""
    return (0,) if wide < 3 else (1,) if wide < 5 else (1, 2, 3) if wide > 7 else (1, 2)


def _belongs(before: str, part: str) -> bool:
    """Tell whether two parts are of one vdev: one has the kind, the other how many there are, or how wide."""
    if not _has_kind(part):
        return WIDTH.search(part) is not None or VDEVS.search(part) is not None
    return not _has_kind(before) and VDEVS.search(before) is not None


def _has_kind(text: str) -> bool:
    return VDEV.search(text) is not None or TIMES_MIRRORS.search(text) is not None


def _vdev_text(part: str) -> str:
    """Return one vdev, or a number of equal ones."""
    if TIMES_MIRRORS.search(part):
        return _mirrors_of_drives(part)
    kind = VDEV.search(part)
    if kind is None and (single := single_text(part)) is not None:
        return single
    if kind is None:
        return re.sub(r"\(.*?\)", "", part).strip()
    parity = 0 if "mirror" in kind[0] else int(kind[1] or kind[2] or 1)
    name = f"raidz{parity}" if parity else "mirror"
    said = _said(part[: kind.start()], part[kind.end() :], parity)
    wide = said.wide or (2 if parity == 0 else None)
    one = name if wide is None else word_of_parity(parity, wide)
    return f"{said.times}*{one}" if said.times else one


def single_text(text: str) -> str | None:
    """Return a stripe of single drives in zsim's words; None where the text speaks of something else."""
    if not _SINGLE.search(text):
        return None
    count = _DRIVES.search(text)
    return f"stripe{next(group for group in count.groups() if group)}" if count else "disk"


def _mirrors_of_drives(part: str) -> str:
    """Return the mirrors of a RAID 10 of so many drives; one, where their number is not said."""
    drives = re.search(r"\b(\d+)[ -]*(?:drives?|disks?|devices?|x\b)", TIMES_MIRRORS.sub(" ", part))
    count = int(drives[1]) // 2 if drives else 1
    return f"{count}*mirror2" if count > 1 else "mirror2"


def _said(before: str, after: str, parity: int) -> _Said:
    """Return what the words before and after a vdev's kind say, the plainest form first."""
    after = _without_number(after, parity)
    joined = _joined(before, after, parity)
    whole = f"{before} {after}"
    if joined.wide and joined.times:
        return joined
    for pattern in (VDEVS_OF, PAIR):
        found = pattern.search(whole)
        if found is not None and joined.wide is None:
            return _possible(int(found[1]), int(found[2]), parity)
    width = WIDTH.search(before) or WIDTH.search(after) or OF_SO_MANY.search(after)
    wide = joined.wide
    if wide is None and width is not None:
        wide = int(next(group for group in width.groups() if group))
    left = WIDTH.sub(" ", before)
    count = VDEVS.search(whole) or BEFORE.search(left)
    times = joined.times or (int(count[1]) if count else None)
    in_all = parity == 0 and width is not None and re.search("drive|disk|device", width[0])
    return _Said(times, wide // times if in_all and times and wide and wide >= 2 * times else wide)


def _without_number(after: str, parity: int) -> str:
    """Return the words after a kind without the number of a vdev's name, as ``mirror-1`` has it."""
    named = re.match(r"-(\d+)\b(?!\s*-?\s*(?:way|wide))", after)
    if named is None:
        return after
    least = parity + 1 if parity else 2
    return after[named.end() :] if int(named[1]) < least or "only" in after else after


def _joined(before: str, after: str, parity: int) -> _Said:
    """Return what is written right after a kind: ``raidz2x6``, ``mirror2 x 3``, ``mirror x 2``."""
    plain = re.sub(r"\(.*?\)", " ", after)
    found = re.match(
        rf"(\s*[x*_-]\s*|\s*)(\d+)\b(?!\s*-?\s*(?:way|vdevs?)){CAPACITY}(?:\s*([x*])\s*(\d+)\b{CAPACITY})?",
        plain,
    )
    if found is None:
        return _Said(None, None)
    first, second = int(found[2]), int(found[4]) if found[4] else None
    apart, cross = found[1].isspace(), found[1].strip() != ""
    if second is None and cross and (parity == 0 or WIDTH.search(before)):
        return _Said(first, None)
    if second is not None and apart and parity:
        return _possible(first, second, parity)
    return _Said(second, first)


def _possible(times: int, wide: int, parity: int) -> _Said:
    """Return so many vdevs of so many drives; the other way round where such a vdev cannot be."""
    return _Said(wide, times) if parity and wide <= parity < times else _Said(times, wide)
