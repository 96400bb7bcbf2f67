"""Cut, shuffled, mangled and invented outputs: an import succeeds or is refused in one sentence."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.observe.pool_import import importing
from zsim.observe.pool_import.given.files import read_pasted
from zsim.observe.zdb.pointers import read_pointers
from zsim.scenario.model import Scenario

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXTS = {
    str(path.relative_to(FIXTURES)): path.read_bytes()
    for path in sorted([*FIXTURES.glob("*.*"), *FIXTURES.glob("*/*")])
    if path.suffix in (".txt", ".json") and path.name != "blocks.txt"
}
OTHERS = {path.name: path.read_bytes() for path in sorted((FIXTURES / "outputs").iterdir())}
"""Outputs that tell of drives and of what the pool has shown: mangled beside a whole status."""
STATUS = TEXTS["raidz2-2.2/status.txt"]
BLOCKS = (FIXTURES / "raidz2-2.2" / "blocks.txt").read_bytes()
names = st.sampled_from(sorted(TEXTS))
fuzzed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def try_import(content):
    """Import a text; whatever comes out of it has to be a scenario that can be written and read."""
    try:
        found = importing.import_files(read_pasted(content), None, ())
    except InputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 2000
        return
    assert Scenario.from_dict(found.scenario.stated()) == found.scenario
    found.to_toml()
    found.to_dict()


@fuzzed
@given(names, st.floats(0, 1), st.floats(0, 1))
def test_cut_anywhere(name, first, last):
    text = TEXTS[name]
    begin, end = sorted((int(first * len(text)), int(last * len(text))))
    try_import(text[begin:end])
    try_import(text[:end])


@fuzzed
@given(st.sampled_from(sorted(OTHERS)), st.integers(0, 2**32), st.integers(0, 20), st.floats(0, 1))
def test_mangled_beside_a_status(name, seed, count, end):
    draw = random.Random(seed)
    words = OTHERS[name].split(b" ")
    for _ in range(count):
        words[draw.randrange(len(words))] = draw.choice(
            [
                b"9" * 40,
                b"-1",
                b"1e999",
                b"nan",
                b"\xff",
                b"\t",
                b"\n",
                b"0",
                b"",
                b'"',
                b"{",
                b"99:99:99",
                b"0x7",
            ]
        )
    text = b" ".join(words)
    try_import(STATUS + text[: int(end * len(text))])
    try_import(text + STATUS)


@fuzzed
@given(names, names, st.randoms(use_true_random=False))
def test_lines_in_any_order(one, other, draw):
    lines = TEXTS[one].split(b"\n") + TEXTS[other].split(b"\n")
    draw.shuffle(lines)
    try_import(b"\n".join(lines))


@fuzzed
@given(names, st.integers(0, 2**32), st.integers(1, 30), st.text(max_size=12))
def test_words_replaced(name, seed, count, word):
    draw = random.Random(seed)
    words = TEXTS[name].split(b" ")
    candidates = [
        word.encode("utf-8", "replace"),
        b"9" * 400,
        b"-1",
        b"1e999",
        b"nan",
        b"\xff\xfe",
        b"0x",
        b"\t",
        b"\n",
    ]
    for _ in range(count):
        words[draw.randrange(len(words))] = draw.choice(candidates)
    try_import(b" ".join(words))


@fuzzed
@given(names, st.integers(0, 2**32))
def test_digits_replaced(name, seed):
    draw = random.Random(seed)
    text = bytearray(TEXTS[name])
    places = [place for place, sign in enumerate(text) if 48 <= sign <= 57]
    for place in draw.sample(places, min(len(places), 20)):
        text[place] = draw.choice(b"0123456789")
    try_import(bytes(text))


@fuzzed
@given(names, st.integers(0, 2**32))
def test_bytes_replaced(name, seed):
    draw = random.Random(seed)
    text = bytearray(TEXTS[name])
    for _ in range(50):
        text[draw.randrange(len(text))] = draw.randrange(256)
    try_import(bytes(text))


@fuzzed
@given(names, st.sampled_from([" ", "\t", "(", "9", "a", "1 / ", "children[0]:\n ", "replacing-0\n"]))
def test_long_runs_take_no_time(name, piece):
    lines = TEXTS[name].split(b"\n")
    lines[len(lines) // 2] = piece.encode() * 20_000
    try_import(b"\n".join(lines))


@fuzzed
@given(st.text(max_size=300))
def test_any_text(text):
    try_import(text.encode("utf-8", "replace"))
    try_import(
        b"  pool: x\n scan: "
        + text.encode("utf-8", "replace")
        + b"\nconfig:\n"
        + text.encode("utf-8", "replace")
    )


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 1), st.integers(0, 2**32))
def test_statistics_cut_and_mangled(share, seed):
    draw = random.Random(seed)
    text = bytearray(BLOCKS[: int(share * len(BLOCKS))])
    for _ in range(min(len(text), 40)):
        text[draw.randrange(len(text))] = draw.randrange(256)
    try_import(TEXTS["status-0.8.txt"] + bytes(text))


@fuzzed
@given(st.binary(max_size=400), st.integers(0, 2**32), st.integers(0, 60))
def test_pointers_mangled(noise, seed, count):
    draw = random.Random(seed)
    text = bytearray(TEXTS["pointers.txt"] * 3)
    for _ in range(count):
        text[draw.randrange(len(text))] = draw.choice(b"0123456789abcdefLP<>:[]= \n\x00\xff")
    for content in (
        bytes(text),
        bytes(text[: draw.randrange(len(text))]),
        noise,
        b"objset 1 object " + noise,
    ):
        try:
            found = read_pointers(io.BytesIO(content), "bp")
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert found.pointers + found.empty > 0


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_windows_line_ends_and_marks_change_nothing(name):
    if name == "pointers.txt" or "host" in name or "version" in name:
        return
    plain = read_pasted(TEXTS[name])
    marked = read_pasted(b"\xef\xbb\xbf" + TEXTS[name].replace(b"\n", b"\r\n"))
    assert (plain.statuses, plain.lists, plain.configs) == (marked.statuses, marked.lists, marked.configs)
