"""Stated values in the units in which they were stated; assumptions as they were simulated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from zsim.base.constants import whole_constant
from zsim.base.units import (
    format_bytes,
    format_bytes_exactly,
    format_drive_size,
    format_drive_size_exactly,
    format_duration_exactly,
    format_fraction,
    format_rate,
)
from zsim.case.case import Case
from zsim.case.case import CaseAssumption as Default
from zsim.case.worlds import Value, ends_of
from zsim.prediction.answer.records import Assumption, Stated
from zsim.prediction.inputs.ensemble import Unknown
from zsim.prediction.missing import record_sizes, record_span
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.exchanged import ExchangedDrive
from zsim.scenario.one_drive.sick import Attached, BadSectors
from zsim.scenario.one_drive.slow import SlowDrive
from zsim.scenario.parts import Load
from zsim.scenario.words import CAPACITIES, DATA_SIZES, SHARES, in_words

BINARY = 1 << 30
Formats = Mapping[str, Callable[..., str]]


def capacity(size: int) -> str:
    """Return a drive's capacity in powers of 1000, of 1024 where only these are whole, or to three digits.

    Nobody states 8001563222016 bytes: an import reads them, and a person knows the drive as one of 8 TB.
    """
    if size % BINARY == 0 and size % 10**9:
        return _short(f"{format_bytes_exactly(size)}iB", format_drive_size(size))
    return _short(format_drive_size_exactly(size), format_drive_size(size))


def amount(size: int) -> str:
    """Return an amount of data as ZFS prints it, exactly where that is short."""
    return _short(format_bytes_exactly(size), format_bytes(size))


def _short(exact: str, rounded: str) -> str:
    # Eight letters are longer than any size that a person would state.
    return exact if len(exact) < 8 else rounded


_TEXTS: Formats = {
    **dict.fromkeys(DATA_SIZES, format_bytes_exactly),
    "alloc": amount,
    **dict.fromkeys(CAPACITIES, capacity),
    **dict.fromkeys((*SHARES, "share"), format_fraction),
    **dict.fromkeys(("duration", "think", "elapsed", "to_go"), format_duration_exactly),
    **dict.fromkeys(("read_rate", "write_rate", "bandwidth"), format_rate),
}


def stated(scenario: Scenario) -> tuple[Stated, ...]:
    """Return what a scenario states, in the order of its fields.

    Examples
    --------
    >>> [each.text for each in stated(Scenario(layout="raidz2x6", fill="62%", drive_size="18TB"))]
    ['raidz2x6', '62 %', '18TB']
    """
    return tuple(
        Stated(field=name, value=value, text=text_of(name, value))
        for name, value in scenario.stated().items()
    )


def scenario_words(scenario: Scenario, implied: Collection[str] = ()) -> tuple[str, ...]:
    """Return what a scenario states, each field with its name and unit, without those that are `implied`."""
    told = (each for each in stated(scenario) if each.field not in implied)
    return tuple(f"{in_words(each.field)} {each.text}" for each in told)


NAMED_EACH = whole_constant("evidence.named_each")
NAMED_GONE = whole_constant("evidence.named_gone")
"""So many drives are named one by one."""


def text_of(name: str, value: object) -> str:
    """Return the value of a field (SI, plain data) in the units in which a person states it."""
    if isinstance(value, bool):
        return ("no", "yes")[value] if name != "write_cache" else ("off", "on")[value]
    if isinstance(value, Mapping) and name in _FORMS:
        return _FORMS[name](value)
    if isinstance(value, Mapping):
        # Whatever name may stand among tunables, also that of a field with a unit.
        named = name != "tunables"
        return ", ".join(
            f"{key} {text_of(key if named else '', each)}"
            for key, each in value.items()
            if each not in (None, "")
        )
    if isinstance(value, list):
        every = {"evidence": _all_evidence, "exchanged": _all_exchanged}.get(name)
        parts = every(value) if every is not None else [text_of(name, each) for each in value]
        return "; ".join(parts) or "none"
    if name in _TEXTS and isinstance(value, int | float):
        return _TEXTS[name](value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _load(load: Mapping[str, object]) -> str:
    """Return a load in its text form: ``random-read,rate=50,size=64K``."""
    rest = (f"{key}={text_of(key, each)}" for key, each in load.items() if key != "kind" and each is not None)
    return ",".join((str(load["kind"]), *rest))


def _all_evidence(every: Sequence[object]) -> list[str]:
    """Return what the pool has shown, many drives that were seen at work, or that are gone, as one."""
    shown = [each for each in every if isinstance(each, Mapping)]
    words = {_evidence(each): each for each in shown}
    seen = [text for text, each in words.items() if each.get("what") == "drive" and not each.get("missing")]
    gone = [text for text, each in words.items() if each.get("missing")]
    told = list(words)
    for drives, most, what in ((seen, NAMED_EACH, "activity or errors of"), (gone, NAMED_GONE, "gone:")):
        if len(drives) > most:
            count = len({str(words[text]["drive"]) for text in drives})
            told = [*(text for text in told if text not in drives), f"{what} {count} drives"]
    return told


def _all_exchanged(every: Sequence[object]) -> list[str]:
    """Return drives of another model or size, many of one as their number: ``7 drives of st16000nm001g``."""
    texts = [text_of("exchanged", each) for each in every]
    counts = Counter(text.partition(":")[2] for text in texts)
    few = [text for text in texts if counts[text.partition(":")[2]] <= NAMED_EACH]
    return few + [
        f"{count} drives of {what.removeprefix('@')}" for what, count in counts.items() if count > NAMED_EACH
    ]


def _evidence(seen: Mapping[str, object]) -> str:
    """Return one thing that the pool has shown in a few words: ``scrub of 9 h 12 min, ended 2026-05-03``."""
    what = seen.get("what")
    if what == "finished":
        end = f", ended {str(seen['end'])[:10]}" if seen.get("end") else ""
        return f"{seen['kind']} of {text_of('duration', seen['duration'])}{end}"
    if what == "running":
        done = f", {text_of('share', seen['done'])} done" if seen.get("done") is not None else ""
        kind = {"expand": "expansion", "remove": "removal"}.get(str(seen["kind"]), seen["kind"])
        return f"running {kind}{done}"
    if what == "drive" and seen.get("missing"):
        return f"{seen['drive']} {seen['missing']}"
    if what == "drive":
        errors = any(name.endswith("_errors") or name in ("slow_ios", "pending_sectors") for name in seen)
        return f"{'errors' if errors else 'activity'} of {seen['drive']}"
    if what == "class":
        return f"{text_of('alloc', seen['held'])} on the {seen['alloc_class']} vdevs"
    rate = f" at {text_of('bandwidth', seen['rate'])}" if seen.get("rate") else ""
    return f"{seen.get('access', 'measurement')} of one {seen.get('of', 'drive')}{rate}"


_FORMS: Formats = {
    "load": _load,
    "evidence": _evidence,
    "ports": lambda port: f"{port['enclosure']}:{','.join(map(str, port['drives']))}",
    "exchanged": lambda exchanged: str(ExchangedDrive.model_validate(exchanged)),
    "slow": lambda slow: str(SlowDrive.model_validate(slow)),
    "bad_sectors": lambda bad: str(BadSectors.model_validate(bad)),
    "attached": lambda attached: str(Attached.model_validate(attached)),
}
"""Parts of a scenario that have a text form."""


def simulated(case: Case, world: Case, inputs: tuple[Unknown, ...]) -> tuple[Assumption, ...]:
    """Return the assumptions as they were simulated.

    Parameters
    ----------
    case : Case
        As asked.
    world : Case
        The same in the world that is shown in detail: what is said of drives, phases and causes is of it.
    inputs : tuple of Unknown
        What the other worlds vary; empty where only one is simulated.
    """
    varied = {unknown.name: unknown for unknown in inputs}
    return tuple(_simulated(each, world, varied) for each in case.assumptions)


def _simulated(each: Default, world: Case, varied: Mapping[str, Unknown]) -> Assumption:
    value, text = _in_world(each, world)
    sampled = _range_of(each.field, world, varied)
    why = each.why
    if each.field == "recordsize" and world.scenario.block_list is None:
        why = f"as {world.history.name} has them"
    elif sampled and each.field in _WHY:
        why = _WHY[each.field]
    return Assumption(field=each.field, value=value, text=text, sampled=sampled, why=why)


_WHY = {
    "drive": "no drive was named",
    "drive_size": "not stated; common sizes are sampled",
    "fill": "not stated; the time is about proportional to it",
    "history": "not stated; uses differ in record sizes and age",
    "load": "not stated; most pools are in use during a resilver",
    "memory": "not stated; a sorted scan of this pool may be short of it",
}
"""Why a value is sampled, where the reason of the default would not tell."""


def _in_world(each: Default, world: Case) -> tuple[object, str]:
    """Return the value of a field in the world shown, in SI and as a person reads it."""
    found: dict[str, tuple[object, str]] = {
        "release": (world.release.name, world.release.name),
        "drive": (world.drive.name, world.drive.name),
        "new_drive": (world.new_drive.name, world.new_drive.name),
        "drive_size": (world.drive_size, format_drive_size(world.drive_size)),
        "fill": (world.fill, format_fraction(world.fill)),
        "history": (world.history.name, world.history.name),
        "memory": (world.memory, format_bytes(world.memory)),
        "write_cache": (world.write_cache, "on" if world.write_cache else "off"),
        "ashift": (world.ashift, f"{world.ashift} ({1 << world.ashift} bytes)"),
        "load": ([load.model_dump(mode="json") for load in world.load], _loads(world.load)),
    }
    if each.field == "recordsize" and world.scenario.block_list is None:
        sizes = record_sizes(world, world.history)
        value: object = sizes[0] if len(sizes) == 1 else sizes
        return value, record_span(world, world.history)
    return found.get(each.field, (each.value, each.text))


def _loads(loads: tuple[Load, ...]) -> str:
    return "; ".join(f"{load.kind}, {load.rate:.2g}/s" for load in loads if load.rate) or "none"


_SPREADS = {
    "drive": ("outer_rate", "inner_ratio", "seek", "overhead"),
    "new_drive": ("new_rate",),
    "frag": ("churn",),
    "ports": ("host",),
}
"""Field to the unknowns that are factors on what it names."""


def _range_of(field: str, world: Case, varied: Mapping[str, Unknown]) -> str:
    """Say over what a field is varied; empty if over nothing."""
    known = varied.get(field)
    if known is not None and known.choices:
        values = [choice.value for choice in known.choices]
        return _CHOICES.get(field, _names)(values)
    if field == "recordsize" and "history" in varied:
        return record_span(world)
    like_others = world.scenario.new_drive is None and not world.repairs_class
    if field == "new_drive" and "drive" in varied and like_others:
        return _range_of("drive", world, varied)
    named = (varied[name] for name in _SPREADS.get(field, ()) if name in varied)
    spreads = [each.spread for each in named if each.name != "host" or each.field == field]
    return f"a factor of {math.exp(max(spreads)):.2g} either way" if spreads else ""


def _names(values: list[Value]) -> str:
    return ", ".join(str(value) for value in values)


def _span(form: Callable[[float], str]) -> Callable[[list[Value]], str]:
    return lambda values: " to ".join(form(value) for value in ends_of(values))


_CHOICES: Mapping[str, Callable[[list[Value]], str]] = {
    "drive_size": _span(format_drive_size),
    "fill": _span(format_fraction),
    "memory": _span(lambda size: format_bytes(int(size))),
    "history": lambda values: f"{len(values)} uses, {values[0]} to {values[-1]}",
    "write_cache": lambda values: "on or off",
    "load": lambda values: f"none to {ends_of(values)[1]:g} reads/s per drive",
}
