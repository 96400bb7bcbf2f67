"""``zsim rerun``: compute a stored result again, and say what has changed since."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import echo, json_option, print_json, show

if TYPE_CHECKING:
    from zsim.prediction.answer.prediction import Prediction

DIFFERENT = 1
ROUNDING = 1e-9
"""By so much may numbers of two platforms, or of two versions of libraries, differ: some 1e-15 an operation,
of a million in a row.  A regression by other routines of linear algebra moves them by 2e-11 at most."""


@click.command("rerun")
@click.argument("result", metavar="RESULT.json")
@json_option
def command(result: str, as_json: bool) -> int:
    """Compute a stored result again and say what has changed since.

    Exit code 0 if the numbers are the same bit for bit, or to one part in a billion on another platform or
    with other versions of libraries (which differ in the last bits of a logarithm or a regression); 1 if not.
    """
    from zsim.cli.forecasts.predict import compute
    from zsim.prediction.answer.prediction import Prediction
    from zsim.scenario.model import Scenario

    old = Prediction.load(result)
    stated = old.provenance.get("scenario")
    if not isinstance(stated, dict):
        raise InputError(
            f"{result}: provenance.scenario", stated, "a stored result has it", "predict with -o again"
        )
    new = compute(Scenario.from_dict(stated))
    changed = list(changes(old.provenance, new.provenance))
    then, now = without_provenance(old), without_provenance(new)
    moved = list(differences(then, now, within=ROUNDING))
    rounded = [] if moved else list(differences(then, now))
    if as_json:
        print_json({"same": not moved, "bit_for_bit": not moved and not rounded, "tolerance": ROUNDING,
                    "moved": moved, "rounded": rounded, "changed": changed, "old": old.resilver_s.p50,
                    "new": new.resilver_s.p50})  # fmt: skip
    else:
        show_rerun(old, new, moved, rounded, changed)
    return DIFFERENT if moved else 0


def without_provenance(prediction: Prediction) -> dict[str, object]:
    """Return the answer alone."""
    return {name: value for name, value in prediction.to_dict().items() if name != "provenance"}


def differences(old: object, new: object, path: str = "", within: float = 0.0) -> Iterator[str]:
    """Yield the dotted names of what differs between two plain structures, numbers by more than a share."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            yield from differences(old.get(name), new.get(name), f"{path}.{name}" if path else name, within)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from differences(first, second, f"{path}[{place}]", within)
    elif old != new and not _is_close(old, new, within):
        yield path


def _is_close(old: object, new: object, within: float) -> bool:
    if not (isinstance(old, float) and isinstance(new, float)):
        return False
    return math.isclose(old, new, rel_tol=within)


def changes(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield what the result depends on and is not as it was: versions, model files, kernels."""
    for name in sorted(old.keys() | new.keys()):
        before, now = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            for each in changes(before, now):
                yield {**each, "what": f"{name}.{each['what']}"}
        elif before != now:
            yield {"what": name, "then": before, "now": now}


KINDS = (("models", "Model files"), ("kernels", "Compiled code"), ("code", "Other code"))


def verdict(changed: list[dict[str, object]]) -> str:
    """Return in words what kinds of things have changed: model files, code, or only what is around them."""
    heads = {str(each["what"]).partition(".")[0] for each in changed}
    found = [words for name, words in KINDS if name in heads]
    if not found:
        return "Neither model files nor code, but versions or the machine have changed"
    sentence = ", ".join([found[0], *(words.lower() for words in found[1:])])
    return f"{sentence} changed"


def show_rerun(
    old: Prediction,
    new: Prediction,
    moved: list[str],
    rounded: list[str],
    changed: list[dict[str, object]],
) -> None:
    """Print the comparison in words."""
    from zsim.base.units import format_duration
    from zsim.report.tables import grid_of, rich_table

    then, now = format_duration(old.resilver_s.p50), format_duration(new.resilver_s.p50)
    if moved:
        echo(f"Different: {then} then, {now} now; {len(moved)} numbers moved, the first is {moved[0]}.")
    elif rounded:
        parts = f"{round(1.0 / ROUNDING):,}"
        echo(f"The same to one part in {parts}: {now}; of {len(rounded)} numbers the last bits differ.")
    else:
        click.echo(f"The same bit for bit: {now}.")
    if changed:
        click.echo(f"{verdict(changed)} since:")
        show(rich_table(grid_of(changed, ("what", "then", "now"))))
    else:
        click.echo("Versions, model files and code are those of the stored result.")
