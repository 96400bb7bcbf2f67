"""Loads as people say them: who, how much and how large a request is in any order, hours last."""

from __future__ import annotations

import pytest

from zsim.base.errors import InputError
from zsim.scenario.loads_in_words import load_in_words
from zsim.scenario.parts import Load


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("backup 100MB/s 22:00-06:00", "sequential-read,bandwidth=100MB/s,hours=22:00-06:00"),
        ("100MB/s backup 22:00-06:00", "sequential-read,bandwidth=100MB/s,hours=22:00-06:00"),
        ("300 reads/s 8K", "random-read,rate=300,size=8K"),
        ("reads 300/s 8KiB", "random-read,rate=300,size=8K"),
        ("50 writes/s 8K mon-fri 09:00-17:00", "async-write,rate=50,size=8K,hours=mon-fri 09:00-17:00"),
        ("database 30% sat-sun 08:00-18:00", "random-read,share=30%,hours=sat-sun 08:00-18:00"),
        ("backup 100 MB/s from 22:00 to 06:00", "sequential-read,bandwidth=100MB/s,hours=22:00-06:00"),
        ("backup 100MB/s 22:00 - 06:00", "sequential-read,bandwidth=100MB/s,hours=22:00-06:00"),
        ("vms 50 IOPS 8 K", "random-read,rate=50,size=8K"),
        ("reads 50iops", "random-read,rate=50"),
        ("50reads/s", "random-read,rate=50"),
        ("read 20 IOPS", "random-read,rate=20"),
        ("200 sync writes/s 16K", "sync-write,rate=200,size=16K"),
        ("sequential reads 100MB/s", "sequential-read,bandwidth=100MB/s"),
        ("300 ingest/s", "async-write,rate=300"),
        ("streaming 20 Mbit/s", "sequential-read,bandwidth=2.5MB/s"),
        ("replication 1Gbit/sec", "sequential-read,bandwidth=125MB/s"),
        ("database 30 % mon-fri from 08:00 until 18:00", "random-read,share=30%,hours=mon-fri 08:00-18:00"),
    ],
)
def test_words_say_what_settings_say(text: str, same: str) -> None:
    assert Load.model_validate(text) == Load.model_validate(same)


@pytest.mark.parametrize("text", ["random-read,rate=50", "random-read,rate=50,hours=mon-fri 08:00-18:00"])
def test_settings_are_no_words(text: str) -> None:
    assert load_in_words(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30% of the pool", "'of' is no kind of client"),
        ("300/s 8K", "it names no kind of client: backup, "),
        ("backup", "it has no rate"),
        ("backup 22:00-06:00", "it has no rate"),
        ("reads 20", "'20' is no kind of client"),
        ("300 reads/s 200/s", "'200/s' repeats what is said before it"),
        ("backup copy 20MB/s", "'copy' repeats what is said before it"),
        ("backup 20MB/s 30%", "'30%' repeats what is said before it"),
        ("500 IOPS", "it names no kind of client: backup, "),
        ("50iops", "it names no kind of client: backup, "),
    ],
)
def test_what_is_missing_or_said_twice_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_in_words(text)
    assert said in str(refused.value)
    assert "write backup 100MB/s 22:00-06:00" in str(refused.value)
