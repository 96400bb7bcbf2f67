"""What the size of a miniature makes of a duration: not the same for every history of the pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from zsim.predict.ensemble import Member
from zsim.predict.together import together

FEWEST = 2
"""Members of one kind that are worth a larger run: fewer hardly move a quantile."""

Kind = tuple[str | None, bool | None]


def kind_of(member: Member) -> Kind:
    """Return what decides how far a small miniature is off: runs of files, and whether writes lose turns."""
    return member.history, member.write_cache


def factors_by_kind(
    members: Sequence[Member], small_s: Sequence[float], larger: Callable[[Member], float]
) -> list[float]:
    """Return by how much each member is longer on a larger miniature.

    A small miniature cuts large files short and spreads the rest over as many metaslabs as a large one: pools
    of large files come out too long on it, by a third and more in traversal order, pools of small files or
    volumes do not.  One factor for all would move the median of a mixed ensemble.

    Parameters
    ----------
    members : sequence of Member
    small_s : sequence of float
        Their durations on small miniatures [s].
    larger : callable
        Duration of a member on a larger miniature [s]; called once a kind with `FEWEST` members, on the
        middle one of them.

    Returns
    -------
    list of float
        1 for members of a kind that is alone, and for all where there is but one kind.
    """
    groups = _by_kind(members)
    factors = [1.0] * len(members)
    if len(groups) < 2:
        return factors
    worth = [places for places in groups.values() if len(places) >= FEWEST]
    middles = [sorted(places, key=lambda place: small_s[place])[len(places) // 2] for places in worth]
    larger_s = together(larger, [members[middle] for middle in middles])
    for places, middle, time_s in zip(worth, middles, larger_s, strict=True):
        for place in places:
            factors[place] = time_s / small_s[middle]
    return factors


def common_places(members: Sequence[Member]) -> list[int]:
    """Return the members whose kind has a factor of its own; all where no kind has several members.

    What a larger run of the middle member adds is taken for all members: one of a kind that is alone, say of
    small records among large files, would lend all of them what the size of its miniature makes of it.
    """
    groups = _by_kind(members).values()
    common = sorted(place for places in groups if len(places) >= FEWEST for place in places)
    return common or list(range(len(members)))


def _by_kind(members: Sequence[Member]) -> dict[Kind, list[int]]:
    groups: dict[Kind, list[int]] = defaultdict(list)
    for place, member in enumerate(members):
        groups[kind_of(member)].append(place)
    return groups
