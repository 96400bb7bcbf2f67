"""How large a pool that is planned is to be, and the layouts that make it so."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, replace

from zsim.base.errors import InputError, check_number
from zsim.base.units import format_bytes, parse_bytes
from zsim.planning.design.candidates import (
    PLAIN,
    RAIDZ_WIDTHS,
    Candidate,
    for_drives,
    kind_word,
    plain_disks,
    vdevs_of,
)
from zsim.planning.design.facts import Context
from zsim.planning.design.requirements import Requirement
from zsim.planning.usable import repeated_for_usable
from zsim.scenario.layout import Layout, VdevSpec

MOST_MONEY = 1e15


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How large a pool is to be: in drives, in space or in money.

    Attributes
    ----------
    drives : int or None
        Hot spares included.
    usable : int or None
        Usable space, with as few drives as possible [bytes].
    budget, price : float or None
        What all drives may cost, and what one costs.
    spares : int
        Smallest number of hot spares.
    """

    drives: int | None = None
    usable: int | None = None
    budget: float | None = None
    price: float | None = None
    spares: int = 0

    @classmethod
    def asked(
        cls,
        drives: int | None,
        usable: int | str | None,
        budget: float | None,
        price: float | None,
        spares: int,
    ) -> PoolSize:
        """Return what is asked for, as text or numbers."""
        size = None if usable is None else parse_bytes(usable, "usable")
        drives = None if drives is None else whole("drives", drives, 1, 60)
        return cls(drives, size, budget, price, whole("spares", spares, 0, 2))

    def with_space_as_wish(self) -> tuple[PoolSize, list[Requirement]]:
        """Return the space as a requirement, where drives or money say how large the pool is."""
        if self.usable is None or (self.drives is None and self.budget is None):
            return self, []
        wish = Requirement("usable", ">=", float(self.usable), format_bytes(self.usable))
        return replace(self, usable=None), [wish]

    @property
    def words(self) -> tuple[str, ...]:
        """What is asked for, in words."""
        told = (
            (self.drives, f"{self.drives} {'drive' if self.drives == 1 else 'drives'}"),
            (self.usable, f"usable {format_bytes(self.usable or 0)}"),
            (self.budget, f"budget {self.budget or 0:.12g}"),
            (self.price, f"{self.price or 0:.12g} a drive"),
            (self.spares or None, f"at least {self.spares} hot {'spare' if self.spares == 1 else 'spares'}"),
        )
        return tuple(words for value, words in told if value is not None)

    def candidates(self, context: Context, kinds: Collection[str]) -> list[Candidate]:
        """Return the pools of these kinds that are so large.

        Raises
        ------
        InputError
            When the size is not stated, or stated twice.
        """
        drives = self._drives()
        if drives is not None:
            plain = [plain_disks(drives)] if PLAIN in kinds else []
            others = [] if [*kinds] == [PLAIN] else for_drives(drives, self.spares)
            found = [*plain, *others]
        else:
            assert self.usable is not None
            found = []
            for vdev in (*vdevs_of(max(width for _, width in RAIDZ_WIDTHS.values())), VdevSpec.disk()):
                layout = Layout((vdev,))
                with contextlib.suppress(InputError):  # what cannot be is told with the others
                    layout = repeated_for_usable(context.resolved(str(vdev)), self.usable)
                found.append(Candidate(layout, self.spares))
        return [each for each in found if kind_word(each.vdev) in kinds]

    def _drives(self) -> int | None:
        """Return how many drives there are, or can be bought; None where the space decides."""
        for name, money in (("--budget", self.budget), ("--price", self.price)):
            check_number(name, money, f"write {name} 350")
            if money is not None and not 0.0 < money <= MOST_MONEY:
                allowed = f"a sum of money is above 0 and at most {MOST_MONEY:.0e}"
                raise InputError(name, money, allowed, f"write {name} 350")
        if self.drives is None and self.usable is None and self.budget is None:
            raise InputError("drives", None, "one of drives, usable and budget is given", "write --drives 60")
        if self.drives is not None and self.budget is not None:
            raise InputError("drives", self.drives, "it excludes budget", "give one of the two")
        if self.budget is None:
            return self.drives
        if self.price is None:
            raise InputError("--price", None, "a budget needs the price of a drive", "write --price 350")
        return int(self.budget // self.price)


def whole(name: str, value: int | None, least: int, for_instance: int) -> int:
    """Return a whole number that is given, checked."""
    check_number(name, value, f"write {name}={for_instance}", whole=True)
    if value is None or value < least:
        allowed = f"it is a whole number, at least {least}"
        raise InputError(name, value, allowed, f"write {name}={for_instance}")
    return int(value)
