"""All readers of outputs, and which of them apply to a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zsim.observe.devices.reading import READERS as DRIVES
from zsim.observe.devices.sentences import SentenceReader
from zsim.observe.evidence import (
    benchmarks,
    host_iostat,
    kernel_log,
    pool_events,
    pool_histograms,
    pool_history,
    pool_iostat,
)
from zsim.observe.outputs import Reader
from zsim.observe.pool_import.given import host_facts, layout_words
from zsim.observe.zdb import blocks, configuration, metaslabs
from zsim.observe.zpool import (
    commands,
    datasets,
    listing,
    listing_json,
    mounted,
    properties,
    status,
    status_json,
    truenas,
)

SENTENCES = "sentences"
READERS: dict[str, Reader] = {
    "zpool status": status,
    "zpool list": listing,
    "zdb -C": configuration,
    "zdb -b": blocks,
    "zdb -m": metaslabs,
    "zpool and zfs get": properties,
    "zfs list": datasets,
    "df": mounted,
    "zpool history -i": pool_history,
    "commands": commands,
    "zpool events": pool_events,
    "zpool iostat": pool_iostat,
    "zpool iostat -w or -r": pool_histograms,
    "iostat -x": host_iostat,
    "fio or dd": benchmarks,
    "kernel log": kernel_log,
    **DRIVES,
    SENTENCES: SentenceReader(),
    "a layout in words": layout_words,
}
"""Of plain text, in which outputs may stand one after the other: all that recognise it read it."""

DOCUMENTS: dict[str, Reader] = {
    "fio": benchmarks,
    "zpool list -j": listing_json,
    "zpool status -j": status_json,
    "midclt call pool.query": truenas,
    "zfs version -j": host_facts.VERSION_DOCUMENT,
}
"""Of a JSON document, which is one output: the first that recognises it reads it; else it may list drives."""

HOST = "version and host"
PRINT_HOSTS = frozenset(("zdb -C", "zdb -b", "zdb -m"))
"""What these print looks like versions and processors of a host, and is of the pool's labels."""


def readers_of_text(text: str) -> Iterator[tuple[str, Reader]]:
    """Yield the readers that a plain text needs, each with the name of its output."""
    found = set()
    for name, reader in _recognised(READERS, text):
        found.add(name)
        yield name, reader
    if not (PRINT_HOSTS & found) and host_facts.recognises(text):
        yield HOST, host_facts


def readers_of_document(text: str) -> Iterator[tuple[str, Reader]]:
    """Yield the readers that a JSON document needs, each with the name of its output."""
    first = next(_recognised(DOCUMENTS, text), None)
    if first is not None:
        yield first
    yield from _recognised(DRIVES, text)


def _recognised(readers: Mapping[str, Reader], text: str) -> Iterator[tuple[str, Reader]]:
    return ((name, reader) for name, reader in readers.items() if reader.recognises(text))
