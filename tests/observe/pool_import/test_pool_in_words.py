"""A pool that is described in a sentence alone."""

from __future__ import annotations

import random

import pytest

from tests.validation.test_observed_words import LAYOUTS
from zsim.base.errors import InputError
from zsim.observe.pool_import.given.layout_words import SaidLayout, said_layouts
from zsim.observe.pool_import.given.other_languages import in_english
from zsim.observe.pool_import.given.pool_in_words import as_flags, may_be_words, pool_in_words

EXOS = "--drive generic-7200rpm-cmr"
SENTENCES = {
    "8x 16TB in raidz2": "--layout raidz2x8 --drive-size 16TB",
    "raidz2 with 8\u00d7 16TB": "--layout raidz2x8 --drive-size 16TB",
    "16TB x 8 raidz2": "--layout raidz2x8 --drive-size 16TB",
    "8 x 16 TB Exos raidz2, 60% full": f"--layout raidz2x8 {EXOS} --drive-size 16TB --fill 60%",
    "8 Seagate Exos X16 16TB in raid z2 30% free": f"--layout raidz2x8 {EXOS} --drive-size 16TB --fill 70%",
    "two raidz2 vdevs of 8x 16TB": "--layout 2*raidz2x8 --drive-size 16TB",
    "24x 16TB in 3 raidz2 vdevs": "--layout 3*raidz2x8 --drive-size 16TB",
    "60 drives of 20TB, 6 vdevs raidz2": "--layout 6*raidz2x10 --drive-size 20TB",
    "3x 8-wide raidz2 18TB Exos X18": f"--layout 3*raidz2x8 {EXOS} --drive-size 18TB",
    "2 x RAIDZ1 | 5 wide | 3.64 TiB": "--layout 2*raidz1x5 --drive-size 4TB",
    "6x WD40EFPX raidz1": "--layout raidz1x6 --drive generic-5400rpm-cmr --drive-size 4TB",
    "8x 4TB 870 EVO raidz2": "--layout raidz2x8 --drive 870-evo-4tb --drive-size 4TB",
    "mirror of two 4TB SSDs": "--layout mirror2 --drive generic-sata-ssd --drive-size 4TB",
    "8x SMR 8TB in raidz1": "--layout raidz1x8 --drive generic-5400rpm-smr --drive-size 8TB",
    "5 mirrors of 4TB": "--layout 5*mirror2 --drive-size 4TB",
    "3-way mirror of 4TB drives": "--layout mirror3 --drive-size 4TB",
    "8-disk raidz2, 16TB, 62 % used, TrueNAS 25.10": "--layout raidz2x8 --drive-size 16TB --fill 62%"
    " --product truenas-25.10",
    "8x 16TB raidz2, OpenZFS 2.1.5, 64GB RAM": "--layout raidz2x8 --drive-size 16TB --memory 64G"
    " --release openzfs-2.1.5",
    "raidz2x8 of 16TB, recordsize 1M, home nas": "--layout raidz2x8 --drive-size 16TB --recordsize 1M"
    " --history home-nas",
    "8x 16TB in raidz2, 2 drives failed": "--layout raidz2x8 --drive-size 16TB --replace 2",
    "8x 16TB raidz2, replaced with 18TB": "--layout raidz2x8 --drive-size 16TB --new-drive-size 18TB",
    "5-disk RAID-Z2 of 20 TB at 55 percent": "--layout raidz2x5 --drive-size 20TB --fill 55%",
    "truenas core 13.0, 6x4tb raidz2": "--layout raidz2x6 --drive-size 4TB --product truenas-core-13.0",
    "scrub of 8x 16TB in raidz2": "--layout raidz2x8 --drive-size 16TB --operation scrub",
    "8x16TB raidz2 + 1 hot spare": "--layout raidz2x8+spare:1 --drive-size 16TB",
    "4x 8TB striped, 60% full": "--layout 4*disk --drive-size 8TB --fill 60%",
    "4 disks of 8TB in RAID0": "--layout 4*disk --drive-size 8TB",
    "stripe of 3x 4TB SSDs": "--layout 3*disk --drive generic-sata-ssd --drive-size 4TB",
    "2x 4TB without redundancy": "--layout 2*disk --drive-size 4TB",
    "single disk 4TB": "--layout disk --drive-size 4TB",
    "8x 4TB in striped mirrors": "--layout 4*mirror2 --drive-size 4TB",
    "how long does a resilver of 8x 16TB in raidz2 take?": "--layout raidz2x8 --drive-size 16TB",
    # Data without parity are said, ALLOC has it: in raidz2x6 half as much again, in records of 128K.
    "raidz2x6 18TB drives 40TB used": "--layout raidz2x6 --drive-size 18TB --alloc 54.6T",
    "raidz2x6 18TB drives, 40T allocated": "--layout raidz2x6 --drive-size 18TB --alloc 40T",
    "two mirrors of 12TB drives, 9TiB of data": "--layout 2*mirror2 --drive-size 12TB --alloc 9T",
    "6x 4TB raidz1 about half full": "--layout raidz1x6 --drive-size 4TB --fill 50%",
    "dRAID2 8d 24 disks 2 spares 16TB 50%": "--layout draid2:8d:24c:2s --drive-size 16TB --fill 50%",
    "2 vdevs raidz1 4 disks each 12TB": "--layout 2*raidz1x4 --drive-size 12TB",
    "4x 4TB raidz1 upgrading to 12TB drives": "--layout raidz1x4 --drive-size 4TB --new-drive-size 12TB",
    "dRAID 8d 24 disks 2 spares": "--layout draid1:8d:24c:2s",
    "draid1 with 4 data, 11 drives of 8TB": "--layout draid1:4d:11c --drive-size 8TB",
}
ELSEWHERE = {
    "Ich habe 6x 8TB im RAIDZ2, 75% voll, eine Platte ist ausgefallen, wie lange dauert das Resilvern?":
        "--layout raidz2x6 --drive-size 8TB --fill 75% --replace 1",
    "RAIDZ1 aus 5 Festplatten mit je 12 TB, zu 80 % gefüllt, eine defekt":
        "--layout raidz1x5 --drive-size 12TB --fill 80% --replace 1",
    "zwei raidz2 vdevs mit 8 Platten 18TB, halb voll": "--layout 2*raidz2x8 --drive-size 18TB --fill 50%",
    "J'ai 4 disques de 4 To en RAIDZ1, plein à 80 %, un disque est mort":
        "--layout raidz1x4 --drive-size 4TB --fill 80% --replace 1",
    "Tengo 12 discos de 10TB en raidz3, lleno al 60%": "--layout raidz3x12 --drive-size 10TB --fill 60%",
    "ho 6 dischi da 8TB in raidz2 pieno al 80%, un disco è guasto":
        "--layout raidz2x6 --drive-size 8TB --fill 80% --replace 1",
    "У меня 8 дисков по 16ТБ в raidz2, заполнен на 70%, один умер":
        "--layout raidz2x8 --drive-size 16TB --fill 70% --replace 1",
    "18TBのHDD 8台でRAIDZ2、使用率70%、1台故障しました":
        "--layout raidz2x8 --drive-size 18TB --fill 70% --replace 1",
    "8块16TB硬盘组raidz2，已用70%，坏了一块，要多久":
        "--layout raidz2x8 --drive-size 16TB --fill 70% --replace 1",
    "2块4TB镜像，已用50%": "--layout mirror2 --drive-size 4TB --fill 50%",
}  # fmt: skip


def _flags(text: str) -> list[str]:
    return sorted(each.strip() for each in text.split("--"))


@pytest.mark.parametrize("sentence", [*SENTENCES, *ELSEWHERE])
def test_a_sentence_is_read_as_flags(sentence: str) -> None:
    said = pool_in_words(sentence)
    assert said is not None
    assert _flags(as_flags(said.fields)) == _flags((SENTENCES | ELSEWHERE)[sentence])
    assert said.unread == ()


def test_a_first_word_is_not_joined_to_what_stands_at_the_end() -> None:
    said = pool_in_words("Flibber raidz2 8x 16TB, with two SSDs as cache")
    assert said is not None
    assert said.unread == ("two SSDs as cache", "Flibber")
    # Words that stand together are told as one; in English no word of another language is passed over.
    for sentence, unread in (
        ("Flibber raidz2 8x 16TB gronk wobble, with two SSDs as cache",
         ("two SSDs as cache", "Flibber", "gronk wobble")),
        ("Flibber raidz2 8x 16TB die gronk", ("Flibber", "die gronk")),
    ):  # fmt: skip
        said = pool_in_words(sentence)
        assert said is not None
        assert said.unread == unread


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_in_english_is_left_as_it_is(sentence: str) -> None:
    assert in_english(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "ended"),
    [
        ("8x16TB raidz2 scrub 40% through, running for 2 days", "a scrub 40 % done after 2 d"),
        ("6x 4TB raidz2, expansion 51% done after 8h53m", "an expansion 51 % done after 8 h 53 min"),
        ("6x 4TB raidz2, expansion: 8T of 16T copied in 1 day 3 h", "an expansion 50 % done after 1 d 3 h"),
        ("resilver 3 days in, 12% done, 6x18TB raidz1", "a resilver 12 % done after 3 d"),
        ("5 drive raidz2 16TB, 14.6T of 16.8T issued", "--alloc 16.8T, a resilver 86.9 % done"),
        ("8x 16TB raidz2, 70% in use", "--fill 70%"),
        ("8x16TB raidz2 resilver 34% in 12h", "--drive-size 16TB, a resilver 34 % done after 12 h"),
        ("resilver is at 34% after 12h, 8x16TB raidz2", "--drive-size 16TB, a resilver 34 % done after 12 h"),
        ("a resilver of a mirror of 2x 8TB at 70%", "--fill 70%"),
        ("my resilver of 4x 8TB raidz1 is at 33% after 6 hours", "8TB, a resilver 33 % done after 6 h"),
        ("4x 8TB raidz1, 70% full, resilver runs for 6 h and is at 33%",
         "--fill 70%, a resilver 33 % done after 6 h"),
        ("the scrub of my 6x 18TB raidz2 is stuck at 12%", "--operation scrub, a scrub 12 % done"),
        ("scrub of 4x 8TB raidz1 is 33% through after 6 h", "--operation scrub, a scrub 33 % done after 6 h"),
        ("4x 8TB raidz1, the pool is at 70%, resilver", "--fill 70%"),
        ("4x 8TB raidz1, 20T used", "--alloc 27.5T"),
        ("4x 8TB raidz1, 21.3T used", "--alloc 21.3T"),
        ("10 wide z2 10TB, 75% used, scrub takes 14h", "--fill 75% --evidence scrub=14h"),
        ("6x18TB raidz1, scrub took 9h, resilver 12% done after 3 h",
         "--evidence scrub=9h, a resilver 12 % done after 3 h"),
        ("raidz2 aus 8x 16TB, Resilver l\u00e4uft seit 12 Stunden, 34% fertig",
         "--drive-size 16TB, a resilver 34 % done after 12 h"),
    ],
)  # fmt: skip
def test_how_far_a_scan_is_and_how_long_one_took_may_be_said(sentence: str, ended: str) -> None:
    said = pool_in_words(sentence)
    assert said is not None
    assert as_flags(said.fields).endswith(ended)


@pytest.mark.parametrize(
    ("sentence", "unread"),
    [
        ("8x 16TB raidz2 with 10GbE and 64GB RAM", ("10GbE",)),
        ("4x 4TB IronWolf in mirrors", ("IronWolf",)),
        (
            "8x 16TB raid6 with a slog and 2x 1TB NVMe special mirror",
            ("a slog", "2x 1TB NVMe special mirror"),
        ),
        ("raidz2x6 18TB drives 40% full, 40TB used", ("40TB used",)),
        ("raidz2 with 6 drives of 10 TB each; 43 TB free", ("43 TB free",)),
        ("8x 16TB raidz2 on TrueNAS 11.2", ("TrueNAS 11.2",)),
        ("8x 16TB in raidz2 at 60", ("60",)),
        ("90-bay JBOD, 18TB drives in 9 raidz2 vdevs of 10", ("90-bay JBOD",)),
    ],
)
def test_what_is_not_understood_is_kept_to_be_told(sentence: str, unread: tuple[str, ...]) -> None:
    said = pool_in_words(sentence)
    assert said is not None
    assert said.unread == unread


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("8x 16TB", "nothing says how the drives are combined"),
        ("raidz2 pool of 16TB drives", "nothing says how many drives a vdev has"),
        ("draid2 of 24 drives", "how many drives of a dRAID hold data"),
        ("8x 16TB and 4x 4TB in raidz2", "two numbers of drives, 8 and 4"),
        ("8x 16TB in raidz2, 18TB", "two sizes of drives, 16 TB and 18 TB"),
        ("10 drives in 3 raidz2 vdevs", "10 drives and 3 vdevs"),
        ("8x 16TB WD40EFPX raidz2", "two sizes of drives"),
        ("8 drives, raidz2 or raidz3", "two kinds of vdevs, raidz2 and raidz3"),
        ("raidz2x8 of 6 drives", "raidz2x8 and 6 drives"),
        ("raidz2 of 2 drives", "needs 3 to 255 drives"),
    ],
)
def test_what_contradicts_itself_or_lacks_the_layout_is_refused(sentence: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        pool_in_words(sentence)


@pytest.mark.parametrize("sentence", [each for each, layout in LAYOUTS.items() if layout is not None])
def test_layouts_as_people_write_them_are_read_or_refused_never_wrongly(sentence: str) -> None:
    try:
        said = pool_in_words(sentence)
    except InputError:
        return
    if said is not None:
        assert str(said.fields["layout"]).removesuffix("+spare:1") == LAYOUTS[sentence]


@pytest.mark.parametrize(
    "sentence",
    ["8x 16TB Exos in raidz2", "raidz2 of 6 drives, all WD Red", "12 wide raidz3", "4x 4TB in mirrors"],
)
def test_a_sentence_says_the_same_alone_as_beside_a_scan(sentence: str) -> None:
    said = pool_in_words(sentence)
    beside = [each.layout for each in said_layouts(sentence) if isinstance(each, SaidLayout)]
    assert said is not None
    assert [said.fields["layout"]] == beside


def test_text_about_something_else_is_none() -> None:
    for text in ("hello world", "", "NAME SIZE\nsda 4T", "layout = raidz2x6", "8x 16TB raidz2 " * 40):
        assert pool_in_words(text) is None


def test_names_of_files_are_no_words() -> None:
    assert may_be_words(("8x", "16TB", "in", "raidz2"))
    for names in (("status.txt",), ("list.txt", "raidz2"), ("a/raidz2 pool",), ("-",)):
        assert not may_be_words(names)


def test_words_in_any_order_raise_nothing_but_what_is_wrong() -> None:
    said = (
        "8x 16TB raidz2 3 vdevs of 60% full mirror x 2 raidz2x6 wide drives 18 TB + spare 4*mirror2 0 in 0TiB"
        " 0-wide 3x6 draid2:8d:24c:1s WD40EFPX \uff18x 100% free new replaced with 2TB"
    )
    words = said.split()
    draw = random.Random(7)
    for _ in range(3000):
        try:
            pool_in_words(" ".join(draw.choices(words, k=draw.randint(1, 9))))
        except InputError:
            continue


@pytest.mark.parametrize(
    ("sentence", "field", "value"),
    [
        ("6x8TB raidz2 used 80%", "fill", 0.8),
        ("4x10TB Z1 pool at 72% capacity", "fill", 0.72),
        ("raidz1 4x4TB, 9.8TB used of 10.9TB", "fill", 0.9),
        ("mirror 2x 8TB, 1.5T free", "alloc", 5.77 * 2**40),
        ("a raidz2 with 6 drives 4tb each and 1.2TB left", "alloc", 20.2 * 2**40),
        ("raidz2 of 8x 16TB, 43 TB free", "alloc", 61.4 * 2**40),
    ],
)
def test_what_is_free_tells_how_full_a_pool_is(sentence: str, field: str, value: float) -> None:
    """Of 21.8 TiB in six drives 1.2 TB of data and their parity are free, which is 1.64 TiB."""
    found = pool_in_words(sentence)
    assert found is not None
    assert found.fields[field] == pytest.approx(value, rel=2e-3)
    assert found.unread == ()


def test_more_than_a_pool_has_is_not_free() -> None:
    found = pool_in_words("8x 16TB raidz2, 900TB free")
    assert found is not None
    assert "alloc" not in found.fields
    assert found.unread == ("900TB free",)
