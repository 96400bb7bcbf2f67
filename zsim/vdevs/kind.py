"""The interface of a kind of top-level vdev; code that depends on the kind asks this object.

A kind is one file in `zsim/vdevs/kinds` that ends in ``KIND = ...``; nothing else names it.  The rest of zsim
finds it by its name in a `VdevSpec` (`kind_of`), compiled code by its number (`zsim.vdevs.dispatch`).  How to
add one: docs/how-to/add-a-vdev-kind.md.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, NoReturn, Protocol

from zsim.base.errors import InputError
from zsim.base.jit import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MAX_CHILDREN = 255
MAX_PARITY = 3
KINDS_PACKAGE = "zsim.vdevs.kinds"
NORMAL, SPECIAL, DEDUP, LOG = "normal", "special", "dedup", "log"
CLASSES = (NORMAL, SPECIAL, DEDUP, LOG)
"""Allocation classes of top-level vdevs (OpenZFS spa.h: spa_normal_class, spa_special_class ...)."""

Piece = tuple[int, int, int]
"""Child, child offset [bytes], size [bytes]."""
Plan = tuple[int, int, int, int, int, int, int]
"""Map of a part of a block: its columns, then what the kind's `Kernels.piece` wants to know."""

FEWEST_TO_SIT_OUT = 5
"""Children among which one may stand out as slow (2.4 vdev_raidz.c)."""


class Shaped(Protocol):
    """What has the shape of a top-level vdev: `VdevSpec`, the engine's and the scan's models of one."""

    @property
    def kind(self) -> str:
        """Name of the kind."""

    @property
    def children(self) -> int:
        """Drives."""

    @property
    def parity(self) -> int:
        """Parity columns of a stripe."""

    @property
    def data(self) -> int:
        """Data columns of a stripe; kinds whose other numbers say it do not look here."""

    @property
    def spares(self) -> int:
        """Distributed spares."""

    @property
    def grown(self) -> int:
        """Drives that were added to it by expansion."""


class ReleaseFacts(Protocol):
    """What a kind has to know of a release."""

    @property
    def name(self) -> str:
        """Of the release."""

    @property
    def draid(self) -> bool:
        """Whether the release has dRAID."""

    @property
    def raidz_expansion(self) -> bool:
        """Whether a drive can be added to a RAID-Z."""

    @property
    def rebuild(self) -> str:
        """What can be rebuilt sequentially: none, mirror, mirror-draid."""


@dataclass(frozen=True, slots=True)
class VdevSpec:
    """One top-level vdev, as asked for.

    Attributes
    ----------
    kind : str
        Kind of redundancy: raidz, mirror, draid.
    children : int
        Drives of the vdev.
    parity : int
        Parity columns of a stripe; 0 for a mirror (as ``vdev_get_nparity`` counts it).
    data : int
        Data columns of a full stripe: children - parity (RAID-Z), 1 (mirror), data drives of a group (dRAID).
    spares : int
        Distributed spares of a dRAID; 0 otherwise.
    grown : int
        How many of the drives were added to a RAID-Z later; 0 otherwise.
    alloc_class : str
        What is allocated on it: one of `CLASSES`.

    Raises
    ------
    InputError
        When ``zpool create`` would refuse such a vdev.
    """

    kind: str
    children: int
    parity: int = 0
    data: int = 1
    spares: int = 0
    grown: int = 0
    alloc_class: str = NORMAL

    def __post_init__(self) -> None:
        kind_of(self.kind).check(self)

    @classmethod
    def raidz(cls, parity: int, children: int) -> VdevSpec:
        """Return RAID-Z with `parity` parity columns over `children` drives."""
        return cls("raidz", children, parity, children - parity)

    @classmethod
    def mirror(cls, children: int) -> VdevSpec:
        """Return a mirror of `children` drives."""
        return cls("mirror", children)

    @classmethod
    def draid(cls, parity: int, data: int, children: int, spares: int = 0) -> VdevSpec:
        """Return dRAID with `data` + `parity` drives a group over `children` drives, `spares` distributed."""
        return cls("draid", children, parity, data, spares)

    @classmethod
    def disk(cls) -> VdevSpec:
        """Return a single drive, which has nothing to be resilvered from: a mirror of one."""
        return cls("mirror", 1)

    @property
    def is_disk(self) -> bool:
        """Whether it is a single drive."""
        return kind_of(self.kind).is_replicated and self.children == 1

    @property
    def tolerance(self) -> int:
        """Drives that may fail before data is lost."""
        return kind_of(self.kind).tolerance(self)

    def __str__(self) -> str:
        word = kind_of(self.kind).word(self)
        return word if self.alloc_class == NORMAL else f"{self.alloc_class}:{word}"


class Printed(NamedTuple):
    """What the name of a vdev tells in what zpool prints; 0 where it tells nothing."""

    parity: int = 0
    data: int = 0
    spares: int = 0
    grown: int = 0
    children: int = 0


class VdevShape(NamedTuple):
    """What a map has to know of a top-level vdev: what every function of `Kernels` takes, whole.

    Attributes
    ----------
    ashift : int
        log2 of the vdev's sector [bytes].
    children, parity : int
        Drives, and parity columns of a stripe; 0 in a mirror.
    data : int
        Data columns of a full stripe; of the block in question where blocks of several widths lie on it.
    spares : int
        Distributed spares; 0 but in a dRAID.
    """

    ashift: int
    children: int
    parity: int
    data: int
    spares: int


class Kernels(NamedTuple):
    """The map of a kind, for compiled code and Python alike: functions of whole numbers.

    All take the vdev's `VdevShape`, and `table` is what `VdevKind.table` returns.  Sizes and offsets are in
    bytes; those of a vdev leave out the labels.

    Attributes
    ----------
    asize : callable
        ``(psize, shape)``: the space that a block takes.
    part : callable
        ``(offset, psize, shape)``: how much of a block one map covers; the rest is mapped as a block of its
        own that begins where the first part's space ends.
    plan : callable
        ``(offset, psize, shape)``: the map of a part of a block, a `Plan`.
    piece : callable
        ``(plan, column, whole, shape, table)``: one column of a map, a `Piece`.  `whole`: as scans and
        repairs use it, with fill that is no data.
    needs_child : callable
        ``(offset, psize, shape, table, child)``: whether a resilver of a child has to read the block.
    spare : callable
        ``(spare, place, shape, table)``: the child that holds a distributed spare, counted from 0, at a
        child offset.
    """

    asize: Callable[..., int]
    part: Callable[..., int]
    plan: Callable[..., Plan]
    piece: Callable[..., Piece]
    needs_child: Callable[..., bool]
    spare: Callable[..., int]


@njit
def whole_block(offset: int, psize: int, shape: VdevShape) -> int:
    """Return `psize`: one map covers a block of most kinds."""
    return psize


@njit
def no_spare(spare: int, place: int, shape: VdevShape, table: Integers) -> int:
    """Return -1: most kinds have no distributed spares."""
    return -1


class VdevKind(ABC):
    """A kind of top-level vdev.

    What a kind does not say about itself is as with RAID-Z: a block lies in columns, some of them parity, on
    consecutive children.  Methods take any `Shaped`; a source stands with each kind.

    Attributes
    ----------
    name : str
        As layouts, ``zpool status`` and the type in ``zdb -C`` begin.
    title, plural : str
        As people write it, and of several.
    forms : tuple of str
        Examples of its layouts.
    is_replicated : bool
        Every child holds the whole block: a resilver reads one, and writes those that lack it.
    is_row_aligned : bool
        Blocks take whole rows: every offset is a multiple of the unit, and metaslabs begin at one.
    has_groups : bool
        A block lies on the children of one group of several, whose places are multiples of `group_bytes`.
    has_fill : bool
        Short columns are filled up; scans, repairs and reads that have to reconstruct move the fill too, and
        what was not read is repaired on healthy children as well.
    has_distributed_spares : bool
    repairs_overwritten : bool
        Whether the repair of a drive that was overwritten in place is simulated.
    is_rebuildable : bool
        Whether any release can rebuild it sequentially.
    expanded : str
        Kind that it becomes when a drive is added to it (``zpool attach`` of RAID-Z, 2.3); empty: it cannot.
    has_widths : bool
        Whether blocks of several widths may lie on it, see `widths`.
    least_parity : int
        Parity where a name tells none.
    since : str
        First release that has it, as a remedy names it.
    kernels : Kernels
    """

    name: ClassVar[str]
    title: ClassVar[str]
    plural: ClassVar[str]
    forms: ClassVar[tuple[str, ...]]
    is_replicated: ClassVar[bool] = False
    is_row_aligned: ClassVar[bool] = False
    has_groups: ClassVar[bool] = False
    has_fill: ClassVar[bool] = False
    has_distributed_spares: ClassVar[bool] = False
    repairs_overwritten: ClassVar[bool] = False
    is_rebuildable: ClassVar[bool] = False
    expanded: ClassVar[str] = ""
    has_widths: ClassVar[bool] = False
    least_parity: ClassVar[int] = 0
    since: ClassVar[str] = ""
    kernels: ClassVar[Kernels]

    @abstractmethod
    def parse(self, token: str, text: str) -> VdevSpec | None:
        """Return the vdev that a word of a layout means; None where it is not of this kind.

        Parameters
        ----------
        token : str
            One vdev, in small letters.
        text : str
            The layout that it is from, for messages.

        Raises
        ------
        InputError
            When the word is of this kind, but no such vdev can be made.
        """

    def missing(self, token: str) -> str | None:
        """Return what a word lacks to be of this kind; None where it is nothing like it."""
        return None

    @abstractmethod
    def word(self, vdev: Shaped) -> str:
        """Return the vdev as a layout names it."""

    @abstractmethod
    def check(self, vdev: VdevSpec) -> None:
        """Refuse what ``zpool create`` would refuse, with an `InputError`."""

    def tolerance(self, vdev: Shaped) -> int:
        """Return how many drives may fail before data is lost."""
        return vdev.parity

    def is_known_to(self, release: ReleaseFacts) -> bool:
        """Tell whether a release has vdevs of this kind."""
        return True

    def can_be_rebuilt_by(self, release: ReleaseFacts) -> bool:
        """Tell whether a release can rebuild it sequentially."""
        return False

    def status_word(self, vdev: Shaped) -> str:
        """Return how ``zpool status`` begins the name of the vdev."""
        return f"{self.name}{vdev.parity or ''}"

    @abstractmethod
    def printed(self, name: str) -> Printed | None:
        """Return what a name that zpool prints tells of the vdev; None where it is of another kind."""

    @abstractmethod
    def spec(self, children: int, printed: Printed) -> VdevSpec:
        """Return the vdev of so many drives whose name told `printed`."""

    def columns(self, vdev: Shaped) -> int:
        """Return the columns of a full stripe, parity included: a share parity / columns is no data."""
        return vdev.children

    def spanned_children(self, vdev: Shaped) -> int:
        """Return over how many children one copy of the address space is spread."""
        return vdev.children

    def row_sectors(self, vdev: Shaped) -> int:
        """Return how far blocks may move without a change of their children [sectors of address]."""
        return vdev.children

    @abstractmethod
    def unit_sectors(self, vdev: Shaped) -> int:
        """Return the smallest allocation [sectors]: every allocated size is a multiple of it."""

    def group_bytes(self, vdev: Shaped) -> int:
        """Return the address space of a group [bytes]; 0 for kinds without groups."""
        return 0

    def turn_bytes(self, vdev: Shaped) -> int:
        """Return the address space that lies on every child but the spares once [bytes]; 0 without groups."""
        return 0

    def spare_run(self, vdev: Shaped) -> int:
        """Return how much of a failed child goes to one spare drive in a row [bytes]; 0 without groups."""
        return 0

    @abstractmethod
    def address_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the address space, parity included [bytes], of children of `leaf_bytes` without labels."""

    def metaslab_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the address space by which the size of its metaslabs was chosen [bytes]."""
        return self.address_space(vdev, leaf_bytes)

    def widths(self, vdev: Shaped) -> range:
        """Return the data columns that blocks on it may have, the oldest blocks' first."""
        return range(vdev.data, vdev.data + 1)

    def asizes(self, vdev: Shaped, psize: Integers, ashift: int) -> Integers:
        """Return the allocated sizes [bytes] of blocks of `psize` bytes, element by element."""
        import numpy as np

        sizes, place = np.unique(psize, return_inverse=True)
        shape = shape_of(vdev, ashift)
        found = [self.kernels.asize(int(size), shape) for size in sizes]
        return np.array(found, dtype=np.int64)[place].reshape(np.shape(psize))

    def skips_blocks(self, column_test: bool) -> bool:
        """Tell whether a resilver leaves out blocks that the damaged children have no part of.

        `column_test`: whether the release looks at the columns of a block (0.7 and later).
        """
        return column_test

    def repaired_share(self, vdev: Shaped, failed: int) -> float:
        """Return the share of the data that a resilver of `failed` children has to read."""
        return 1.0

    def drives_read(self, vdev: Shaped, sectors: int) -> int:
        """Return how many drives the read of a record of so many sectors of data is spread over."""
        return max(1, min(vdev.children - vdev.parity, sectors))

    def window_children(self, vdev: Shaped) -> int:
        """Return how many children a scan's window of bytes in flight counts (vdev_get_ndisks, 2.0.7)."""
        return max(1, vdev.children - vdev.spares - vdev.parity)

    def rebuild_segment(self, vdev: Shaped, segment_bytes: int) -> int:
        """Return the data bytes that a sequential rebuild copies at a time at most."""
        return segment_bytes

    def rebuild_pieces(
        self, vdev: Shaped, ashift: int, begin: Integers, end: Integers, segment_bytes: int
    ) -> tuple[Integers, Integers, Integers]:
        """Return begin, end and data bytes of the pieces in which allocated ranges are rebuilt."""
        raise NotImplementedError(f"{self.title} has no sequential rebuild")

    def table(self, vdev: Shaped) -> Integers:
        """Return the table that the kernels look up, of shape (rows, children); most kinds need none."""
        import numpy as np

        return np.zeros((0, vdev.children), dtype=np.int64)


@functools.cache
def kinds() -> dict[str, VdevKind]:
    """Return the kinds by name: the objects ``KIND`` of the modules in `zsim.vdevs.kinds`."""
    package = importlib.import_module(KINDS_PACKAGE)
    # From the back of the alphabet: RAID-Z comes first, in messages and where compiled code compares.
    names = sorted((module.name for module in pkgutil.iter_modules(package.__path__)), reverse=True)
    found: list[VdevKind] = [importlib.import_module(f"{KINDS_PACKAGE}.{name}").KIND for name in names]
    return {kind.name: kind for kind in found}


def kind_of(name: str) -> VdevKind:
    """Return the kind of that name.

    Raises
    ------
    InputError
        When there is none.
    """
    found = kinds().get(name)
    if found is None:
        raise InputError("layout", name, f"known kinds of vdevs are {', '.join(kinds())}", "take one of them")
    return found


def word_of_parity(parity: int, children: int) -> str:
    """Return the layout of so many drives and parity drives, which need not be possible; 0: a mirror."""
    return f"raidz{parity}x{children}" if parity else f"mirror{children}"


def code_of(name: str) -> int:
    """Return the number of a kind in compiled code."""
    return list(kinds()).index(name)


def shape_of(vdev: Shaped, ashift: int, data: int = 0) -> VdevShape:
    """Return what the functions of `Kernels` take as the shape; `data`: columns of an older block."""
    return VdevShape(ashift, vdev.children, vdev.parity, data or vdev.data, vdev.spares)


def asize_of(vdev: Shaped, psize: int, ashift: int) -> int:
    """Return the space that a block takes on a top-level vdev [bytes].

    Parameters
    ----------
    vdev : Shaped
    psize : int
        Size as compressed [bytes].
    ashift : int
        Smallest allocation of a child, as a power of two.

    Returns
    -------
    int
        Parity and padding included [bytes].

    Notes
    -----
    OpenZFS vdev.c:vdev_psize_to_asize, which asks the vdev's kind.
    """
    return int(kind_of(vdev.kind).kernels.asize(psize, shape_of(vdev, ashift)))


def parts_of(vdev: Shaped, offset: int, psize: int, ashift: int, data: int = 0) -> list[tuple[int, int]]:
    """Return the parts of a block, each of which one map covers.

    Parameters
    ----------
    vdev : Shaped
    offset, psize : int
        Where the block begins on the vdev, and its size as compressed [bytes].
    ashift : int
        Smallest allocation of a child, as a power of two.
    data : int
        Columns of data of an older block; 0: those of new blocks.

    Returns
    -------
    list of (int, int)
        Offset and psize of each part [bytes]; one part on most kinds (`Kernels.part`).
    """
    kernels, shape, parts = kind_of(vdev.kind).kernels, shape_of(vdev, ashift, data), []
    while psize > 0:
        size = kernels.part(offset, psize, shape)
        parts.append((offset, size))
        offset += kernels.asize(size, shape)
        psize -= size
    return parts


def pieces_of_part(
    vdev: Shaped, offset: int, psize: int, ashift: int, *, whole: bool = True, data: int = 0
) -> list[Piece]:
    """Return the columns of a part of a block, parity first.

    Parameters
    ----------
    vdev : Shaped
    offset, psize : int
        Of the part, in the address space of the vdev [bytes].
    ashift : int
        log2 of the vdev's sector [bytes].
    whole : bool
        As scans and repairs use them; see `Kernels`.
    data : int
        Data columns of an older block of an expanded vdev; 0: as of new blocks.
    """
    kind, shape = kind_of(vdev.kind), shape_of(vdev, ashift, data)
    plan, table = kind.kernels.plan(offset, psize, shape), kind.table(vdev)
    return [kind.kernels.piece(plan, column, whole, shape, table) for column in range(plan[0])]


def pieces_of(vdev: Shaped, offset: int, psize: int, ashift: int, data: int = 0) -> list[Piece]:
    """Return what the children hold of a block, as it is written: child, child offset, size [bytes].

    Offset and size of the block, and the rest, are as `pieces_of_part` takes them.
    """
    parts = parts_of(vdev, offset, psize, ashift, data)
    return [piece for part in parts for piece in pieces_of_part(vdev, *part, ashift, data=data)]


def number_in(digits: str, text: str) -> int:
    """Return the number, refusing one that is absurdly long before it is converted."""
    if len(digits) > 9:
        refuse(text, f"the number {digits[:9]}... is too large", "")
    return int(digits)


def refuse(value: object, allowed: str, remedy: str = "") -> NoReturn:
    """Raise the `InputError` of a layout."""
    raise InputError("layout", value, allowed, remedy)
