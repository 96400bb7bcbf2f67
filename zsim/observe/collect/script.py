"""The script that runs the same commands on a host without zsim."""

from __future__ import annotations

import shlex

from zsim.observe.collect.commands import COMMANDS, POOL, CollectedCommand

HEAD = """\
#!/bin/sh
# zsim-collect POOL: what zsim import needs to know about a pool.  Reads, changes nothing.
# sh zsim-collect POOL > pool.txt; then: zsim import pool.txt
pool=${1:?usage: zsim-collect POOL}
case $pool in [!A-Za-z]*|*[!A-Za-z0-9_.:-]*) echo "$pool is no name of a pool" >&2; exit 2;; esac
LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/sbin:/sbin; export PATH
limit() { seconds=$1; shift; command -v timeout > /dev/null || { "$@"; return; }
  timeout "$seconds" "$@"; }
try() { command -v "$2" > /dev/null && span=$1 && shift && echo "$ $*" && limit "$span" "$@" 2> /dev/null; }
missing() { echo "$* gave no output here" >&2; }
"""
TAIL = """\
{ grep MemTotal /proc/meminfo || sysctl hw.physmem; echo "cpus: $(nproc || sysctl -n hw.ncpu)"; } 2> /dev/null
grep -H . /sys/block/*/queue/write_cache 2> /dev/null
camcontrol devlist 2> /dev/null
exit 0
"""


def script() -> str:
    """Return the collecting script, for any POSIX shell: one text on the standard output."""
    return HEAD + "\n".join(map(_lines, COMMANDS)) + "\n" + TAIL


def _lines(command: CollectedCommand) -> str:
    ways = " || ".join(f"try {command.limit_s:.0f} {_words(way)}" for way in command.ways)
    body = f"{ways} || missing {shlex.join(command.ways[0][:2])}"
    if command.while_scanning:
        return f"if zpool status \"$pool\" 2> /dev/null | grep -q 'in progress'; then {body}; fi"
    return f"date; {body}" if command.needed else body


def _words(way: tuple[str, ...]) -> str:
    return " ".join('"$pool"' if word == POOL else shlex.quote(word) for word in way)
