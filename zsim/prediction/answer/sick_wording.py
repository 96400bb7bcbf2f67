"""Sentences about sick drives: which sets the pace, what errors cost, what taking one offline saves."""

from __future__ import annotations

from collections.abc import Iterator

from zsim.base.units import format_duration
from zsim.prediction.answer.records import Answer, SickDrive


def sick_sentences(prediction: Answer) -> tuple[str, ...]:
    """Say of each sick drive what it costs, and what would help."""
    return tuple(sentence for each in prediction.sick for sentence in _sentences(each, prediction.operation))


def _sentences(sick: SickDrive, operation: str) -> Iterator[str]:
    if sick.errors:
        yield _errors(sick)
    if sick.unreadable:
        yield _unreadable(sick)
    if sick.sits_out:
        yield f"{_called(sick)} sits out: it is written, but not read."
    elif sick.sets_pace:
        yield (
            f"{_called(sick)} sets the pace: were it as good as its peers, the {operation} would take "
            f"{format_duration(sick.sound_s)}."
        )
    else:
        yield f"{_called(sick)} does not slow the scan down."
    if sick.sets_pace and sick.offline_s is not None and not sick.sits_out:
        yield f"With it taken offline: {format_duration(sick.offline_s)}; then {_left(sick)}."
    elif sick.sets_pace and not sick.sits_out:
        yield "It cannot be taken offline: its vdev has no redundancy to spare."


def _called(sick: SickDrive) -> str:
    return f"Drive {sick.drive} ({sick.name})"


def _left(sick: SickDrive) -> str:
    if sick.left == 0:
        return "the vdev has no redundancy until it is replaced and resilvered too"
    return f"the vdev can lose {sick.left} more"


def _errors(sick: SickDrive) -> str:
    text = (
        f"{sick.errors} reads of drive {sick.drive} fail, each after {format_duration(sick.error_s)}: "
        f"{format_duration(sick.lost_s)} in all."
    )
    if sick.errors == 1:
        text = f"One read of drive {sick.drive} fails, after {format_duration(sick.error_s)}."
    if sick.faulted_s is not None:
        text += (
            f" It is faulted {format_duration(sick.faulted_s)} after the start ({sick.faulted_by}); "
            f"from then on {_left(sick)}."
        )
    return text


def _unreadable(sick: SickDrive) -> str:
    count = sick.unreadable
    blocks = "1 block of a file is" if count == 1 else f"About {count} blocks of files are"
    return (
        f"{blocks} lost, since nothing is left to rebuild them from: zpool status -v names the files. Copy "
        f"what can be read of drive {sick.drive} first (ddrescue), or restore these files from a backup."
    )
