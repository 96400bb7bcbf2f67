"""What hostile input is made of: values, and ways to damage texts, bytes and nested data."""

from __future__ import annotations

import copy
import functools
import gzip
import json
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

import tomlkit
import zstandard

HUGE = "9" * 400
BIDI, CONTROL = "\u202e", "\x1b]0;owned\x07\x1b[2J"
NUMBERS = (
    "0", "-0", "-1", "1", "2", "1e-300", "1e308", "1e309", "-1e309", "nan", "inf", "-inf", "NaN", "Infinity", HUGE,
    f"-{HUGE}", f"0.{HUGE}", "1" + "0" * 5000, "18446744073709551616", "9223372036854775808", "2147483648",
    "-9223372036854775809", "4294967295", "0x10", "1_000", "1e5", "٣", "½", "1.5.2", "--1", "+3", "1e", ".", "5e-324",
    "0.0000001", "99.99999999", "1,5",
)  # fmt: skip
SIZES = (
    "8EB", "16EiB", "1e30TB", "0B", "-4TB", "1B", "512", "nanTB", "infT", "4 TB", "4tb", "TB", "1ZB", "999999YiB",
    "0.5K", "1P", "100PB", "4TB4TB", "4T%", "1e-9G",
)  # fmt: skip
SHARES = ("0%", "100%", "101%", "-5%", "1e400%", "nan%", "0.0001", "0.05%", "97%", "1", "50 %", "%", "1e-12")
LAYOUTS = (
    "mirror2", "raidz1x3", "raidz3x255", "draid2:8d:255c:4s", "draid3:250d:255c:2s", "mirror255 mirror255 raidz3x9",
    "1000000*mirror2", "0*mirror2", "-1*mirror2", "raidz0x5", "raidz9x20", "raidz2x2", "draid0:1d:1c:0s", "draid1:2d",
    "draid", "mirror", "mirror1", "raidz2x99999999999999999999", "mirror2+mirror3", "2*mirror2 3*raidz1x4", "(((((",
    "raidz2x6 " * 200, "mirror2 special mirror2", "draid2:8d:41c:2s", "draid1:1d:3c:100s", "stripe2", "mirror2x",
    "raidz2x6 special:mirror2", "raidz2x6+special mirror2", "4*raidz2x8 special 2*mirror2",
)  # fmt: skip
MOMENTS = (
    "30d", "0s", "-5h", "1e300y", "24h", "never", "5h at 40%", "40%", "200%", "fri 13:41", "mon 99:99", "xyz",
    "2026-13-45", "9999999d", "1h1h1h", "12", "nan h", "inf",
)  # fmt: skip
NAMES = (
    "", " ", "-", "--", ".", "..", "/", "../../../../etc/passwd", "../drives/hd103uj", "../" * 400 + "etc/passwd",
    "a" * 300, "a" * 100_000, "x" * 5000 + ".toml", "nul\x00name", f"evil{CONTROL}name", f"left{BIDI}thgir",
    "\udc80\udcff", "\u200b\ufeff", "name\nwith\nlines", "tab\tname", "<script>alert(1)</script>", "'; DROP TABLE x;--",
    "${HOME}", "$(id)", "`id`", "%s%s%n", "{0.__class__}", "\\\\server\\share", "C:\\x", "naïve-Ünïcode-名前", "\U0001f4a9",
    "CON", "~", "~root", "*", "?", "[a-z]", "hd103uj ", "HD103UJ", "generic-nvme-ssd", "openzfs-2.3", "home-nas",
    "=", "=x", "x=", "x=y", "a.b.c.d=1", "tunables.zfs_vdev_scrub_max_active=5", "a[0]=1", "x" * 400 + "=1",
    "[" * 3000, "{" * 3000, "a=" + "[" * 2000, "load=" + "[" * 900 + "]" * 900, "load={a=" * 60,
    "layout={x=1}", "fill=[1]", "drive={}", "tunables=3", "tunables={a={b=1}}", "fill=inf", "seed=1e400", "fill=1979-05-27",
    "/dev/zero", "/dev/full", "/dev/null", "/proc/self/mem", "/dev/stdin", "/dev/tty", "/proc/self/environ", "/",
    "3:x2.5", "3:x", "1e9:x2", "0:x0", "0:x1e400", "-1:x2", "direct:1,2", "usb-dock:0", "jbod-60:0-99999999",
    "port-multiplier-cbs:1,1", "x:y", ":", "scrub=25h17m", "resilver=11h,alloc=12.1T", "scrub=", "scrub=-1h",
    "sequential-read=180MB/s", "sequential-read=0MB/s", "sequential-read=1e400MB/s", "scrub=1h,alloc=1e400",
    "random-read,rate=50,size=64K", "random-read,rate=1e6,size=1M", "random-read,rate=1e400", "random-read,rate=nan,size=4K",
    "random-read,threads=1000000", "random-read", "sync-write,rate=-1,size=16K", "random-read,rate=10,size=8EB",
    "sequential-read,rate=1e-300,size=1", "bursts,rate=1", "random-read,rate=10,size=64K,hours=0-99",
)  # fmt: skip
WORDS = (*NUMBERS, *SIZES, *SHARES, *LAYOUTS, *MOMENTS, *NAMES)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 1e308, -1e308, 1e-308, float("inf"),
    float("-inf"), float("nan"), "", "x", "nan", "1e999", HUGE, "a" * 10_000, "\x00", BIDI, CONTROL, "<script>", [],
    [[]], [1], ["x"], [None], {}, {"value": 1}, {"value": "x", "unit": "furlong"}, {"x": {"y": {"z": 1}}},
    {"value": float("nan"), "unit": "ms"}, {"value": [1, 2], "unit": "B"}, [1e308, 1e308], list(range(1000)), 3.5, "3.5",
    "0", "-1", "../x", "/etc/passwd", {"": ""}, {"a" * 500: 1}, [{"a": 1}, 2], "2026-11-22", 0.1, 5, 100, 12345678901234,
)  # fmt: skip


def damaged_bytes(chance: random.Random, content: bytes) -> bytes:
    """Return a content with one to three kinds of damage."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        content = chance.choice(BYTE_DAMAGES)(chance, content)
    return content


def _place(chance: random.Random, content: bytes) -> int:
    return chance.randint(0, len(content))


def _cut(chance: random.Random, content: bytes) -> bytes:
    return content[: _place(chance, content)]


def _cut_front(chance: random.Random, content: bytes) -> bytes:
    return content[_place(chance, content) :]


def _insert(chance: random.Random, content: bytes) -> bytes:
    place = _place(chance, content)
    what = chance.choice(
        (b"\x00", b"\x00" * 1000, b"\xff\xfe", b"\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\r", b"\x1b[2J",
         "\u202e".encode(), b"\x0b\x0c\x1c\x85", "\u2028".encode(), b"\n" * 1000, b"[" * 5000, b"{" * 5000, b"(" * 5000,
         b'"', b"'", b"\\", b",,,,", b"=", b"#", b"\xef\xbb\xbf")
    )  # fmt: skip
    return content[:place] + what + content[place:]


def _flip(chance: random.Random, content: bytes) -> bytes:
    if not content:
        return b"\x00"
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 20))):
        found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found)


def _number(chance: random.Random, content: bytes) -> bytes:
    """Replace one run of digits."""
    places = [i for i, sign in enumerate(content[:200_000]) if 48 <= sign < 58]
    if not places:
        return content + b"1"
    begin = end = chance.choice(places)
    while begin > 0 and (48 <= content[begin - 1] < 58 or content[begin - 1] == 46):
        begin -= 1
    while end < len(content) and (48 <= content[end] < 58 or content[end] == 46):
        end += 1
    return content[:begin] + chance.choice(NUMBERS).encode() + content[end:]


def _word(chance: random.Random, content: bytes) -> bytes:
    words = content.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(WORDS).encode("utf-8", "surrogateescape")
    return b" ".join(words)


def _lines(chance: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(6)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, lines[other])
    elif kind == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 3:
        lines[place] = lines[place] * 300
    elif kind == 4:
        lines[place:place] = [lines[other]] * chance.choice((2, 50, 2000))
    else:
        chance.shuffle(lines)
    return b"\n".join(lines)


def _whole(chance: random.Random, content: bytes) -> bytes:
    """Replace or transform all of it."""
    text = content.decode("utf-8", "replace")
    return chance.choice(
        (b"", b"\n", b"\x00" * 4096, b"a" * 1_000_000, b"[" * 100_000, b"a=" + b"[" * 50_000, b"\xff" * 100,
         text.encode("utf-16"), text.encode("utf-32"), b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n"),
         content.replace(b"\n", b"\r"), content.replace(b"\n", b" "), content * 5, content.upper(), content[::-1],
         b"<html><body>404 not found</body></html>", b"%PDF-1.4", b"\x7fELF\x02\x01\x01", b"{}", b"[]", b"null", b"1",
         b'"x"', content.replace(b" ", b"\t"), content.replace(b" ", b""), content.replace(b"=", b":"), packed(content))
    )  # fmt: skip


BYTE_DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut, _cut_front, _insert, _insert, _flip, _number, _number, _number, _word, _word, _lines, _lines, _whole,
)  # fmt: skip


def packed(content: bytes, kind: str = ".gz") -> bytes:
    """Return a content packed as files ending in `kind` are."""
    if kind == ".zst":
        return zstandard.ZstdCompressor().compress(content)
    return gzip.compress(content, 1, mtime=0)


def bomb(kind: str, megabytes: int = 2000) -> bytes:
    """Return a small file that unpacks to many zeros."""
    if kind == ".zst":
        # RFC 8878: one frame with a window of 128K, of blocks that say how often a zero is repeated.
        one = ((128 << 10) << 3 | 1 << 1).to_bytes(3, "little") + b"\x00"
        return b"\x28\xb5\x2f\xfd\x00\x38" + one * (8 * megabytes - 1) + bytes([one[0] | 1]) + one[1:]
    # A full flush ends at a byte and forgets what was before: the same bytes again are as many zeros again.
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = deflate.compress(bytes(10 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    size = megabytes // 10 * (10 << 20)
    summed = functools.reduce(lambda sum_, _: zlib.crc32(bytes(10 << 20), sum_), range(megabytes // 10), 0)
    return (
        b"\x1f\x8b\x08"
        + bytes(7)
        + one * (megabytes // 10)
        + deflate.flush()
        + struct.pack("<II", summed, size)
    )


def damaged_data(chance: random.Random, data: Any) -> Any:
    """Return a copy of nested data with one to three values or keys changed."""
    data = copy.deepcopy(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = _one_change(chance, data)
    return data


def _one_change(chance: random.Random, data: Any) -> Any:
    places = list(_places(data))
    if not places or chance.random() < 0.01:
        return chance.choice(VALUES)
    holder, key = chance.choice(places)
    kind = chance.random()
    if kind < 0.6:
        holder[key] = copy.deepcopy(chance.choice(VALUES))
    elif kind < 0.7:
        holder[key] = chance.choice(WORDS)
    elif kind < 0.8:
        del holder[key]
    elif kind < 0.87:
        holder[key] = [holder[key]]
    elif kind < 0.93:
        other, name = chance.choice(places)
        holder[key] = copy.deepcopy(other[name]) if name in _keys(other) else None
    elif isinstance(holder, dict):
        holder[chance.choice(NAMES)[:2000]] = holder.pop(key)
    else:
        holder.extend(holder[:1] * 500)
    return data


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _places(data: Any) -> Any:
    if isinstance(data, dict):
        for key, value in data.items():
            yield data, key
            yield from _places(value)
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield data, place
            yield from _places(value)


def toml_of(data: Any) -> bytes:
    """Return data as TOML as far as TOML has it; what it has not is written as it would look."""
    try:
        return tomlkit.dumps(data).encode("utf-8", "surrogateescape")
    except Exception:  # tomlkit refuses None, keys and values of odd kinds: write it by hand
        return ("x = " + json.dumps(data, default=str)).encode("utf-8", "surrogateescape")


def json_of(data: Any) -> bytes:
    """Return data as JSON, with NaN and infinity."""
    return json.dumps(data, default=str, ensure_ascii=False).encode("utf-8", "surrogatepass")
