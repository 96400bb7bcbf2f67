"""Machine code of a kernel put into memory, which is what a linker does.

LLVM has one, but to load LLVM takes longer than a world takes to simulate, and tens of megabytes.  Kernels
are compiled for addresses anywhere in memory (its large code model).  On x86-64 all that their object files
leave open then are words of 64 bits: addresses of their own parts and of some functions of the C library.

Notes
-----
System V Application Binary Interface, chapter 4 (object files); its AMD64 supplement, 4.4 (relocation).
"""

from __future__ import annotations

import ctypes
import mmap
import struct

import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_64_LITTLE = b"\x7fELF\x02\x01\x01"
RELOCATABLE, X86_64 = 1, 62
"""e_type and e_machine."""
SECTION = np.dtype([
    ("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
    ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry", "<u8"),
])  # fmt: skip
SYMBOL = np.dtype([
    ("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8"),
])  # fmt: skip
RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
PROGRAM, SYMBOLS, RELOCATIONS = 1, 2, 4
"""sh_type: contents, a table of symbols, relocations with addends."""
IN_MEMORY = 0x2
"""sh_flags: SHF_ALLOC."""
WORD_64 = 1
"""R_X86_64_64: the symbol's address and the addend."""
WORD = struct.Struct("<Q")
UNDEFINED = 0

_linked: list[mmap.mmap] = []
"""Code stays in memory for as long as the process lives."""


class UnlinkableError(Exception):
    """There is more in an object file than is known here."""


def link(code: bytes, symbol: str) -> int:
    """Put an object file into memory; return the address of one of its functions.

    Parameters
    ----------
    code : bytes
        The object file.
    symbol : str
        Name of the function.

    Raises
    ------
    UnlinkableError
        Where LLVM's linker is needed: another format or processor, other open places, names of which the C
        library knows nothing, or a system that lets no memory become code this way.
    """
    sections = _sections(code)
    places, size = _laid_out(sections)
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for number, place in places.items():
        first, length = int(sections["offset"][number]), int(sections["size"][number])
        memory[place : place + length] = code[first : first + length]
    starts = {number: base + place for number, place in places.items()}
    addresses, names = _symbols(code, sections, starts)
    _fill_in(memory, code, sections, places, addresses)
    if symbol not in names or not _may_run(base, size):
        raise UnlinkableError(symbol)
    _linked.append(memory)
    return int(addresses[names.index(symbol)])


def _may_run(base: int, size: int) -> bool:
    """Make memory code that nobody can write to; tell whether the system lets it be (mprotect(2))."""
    rights = mmap.PROT_READ | mmap.PROT_EXEC
    failed = ctypes.CDLL(None).mprotect(ctypes.c_void_p(base), ctypes.c_size_t(size), rights)
    return bool(failed == 0)


def _sections(code: bytes) -> NDArray[np.void]:
    """Return the table of sections of an object file for this processor."""
    if len(code) < HEADER.size or not code.startswith(ELF_64_LITTLE):
        raise UnlinkableError("another format")
    _, kind, machine, _, _, _, first, _, _, _, _, _, count, _ = HEADER.unpack_from(code)
    if (kind, machine) != (RELOCATABLE, X86_64):
        raise UnlinkableError("another processor")
    return np.frombuffer(code, SECTION, count, first)


def _laid_out(sections: NDArray[np.void]) -> tuple[dict[int, int], int]:
    """Return where each section that is kept in memory begins, by number, and the size of all [bytes]."""
    places, size = {}, 0
    for number in np.flatnonzero(sections["flags"] & IN_MEMORY).tolist():
        if sections["type"][number] != PROGRAM:
            raise UnlinkableError("other contents")
        alignment = max(int(sections["alignment"][number]), 1)
        places[number] = -(-size // alignment) * alignment
        size = places[number] + int(sections["size"][number])
    return places, size


def _symbols(
    code: bytes, sections: NDArray[np.void], starts: dict[int, int]
) -> tuple[NDArray[np.uint64], list[str]]:
    """Return the address of each symbol, 0 of what is in no memory, and their names."""
    (number,) = np.flatnonzero(sections["type"] == SYMBOLS)
    table = sections[number]
    found = np.frombuffer(code, SYMBOL, int(table["size"]) // SYMBOL.itemsize, int(table["offset"]))
    text = int(sections["offset"][table["link"]])
    names = [code[text + at : code.index(b"\0", text + at)].decode() for at in found["name"].tolist()]
    of, values = found["section"].tolist(), found["value"].tolist()
    addresses = [
        _outside(name) if section == UNDEFINED else starts[section] + value if section in starts else 0
        for name, section, value in zip(names, of, values, strict=True)
    ]
    return np.array(addresses, np.uint64), names


def _outside(name: str) -> int:
    """Return the address of a function of the C library; 0 of the symbol without a name."""
    if not name:
        return 0
    try:
        return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise UnlinkableError(name) from None


def _fill_in(
    memory: mmap.mmap,
    code: bytes,
    sections: NDArray[np.void],
    places: dict[int, int],
    addresses: NDArray[np.uint64],
) -> None:
    """Write addresses where the sections in memory leave them open."""
    for table in sections[sections["type"] == RELOCATIONS]:
        if int(table["info"]) not in places:
            continue  # of what a debugger reads
        count = int(table["size"]) // RELOCATION.itemsize
        found = np.frombuffer(code, RELOCATION, count, int(table["offset"]))
        meant = addresses[found["symbol"]]
        if (found["type"] != WORD_64).any() or (meant == 0).any():
            raise UnlinkableError("other open places")
        at = found["offset"] + np.uint64(places[int(table["info"])])
        words = meant + found["addend"].astype(np.uint64)
        for place, word in zip(at.tolist(), words.tolist(), strict=True):
            WORD.pack_into(memory, place, word)
