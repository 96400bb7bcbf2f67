"""What `zpool status` prints of a pool, for tests about something else than how it is read."""

from __future__ import annotations

RAIDZ2 = """
raidz2-0 DEGRADED
  sda
  sdb
  sdc
  replacing-3 DEGRADED
    sdd REMOVED
    sdx {mark}
  sde
  sdf
"""
"""Six drives, of which the fourth is replaced; `mark`: what stands behind the new one."""
MIRRORS = """
mirror-0
  sda
  sdb
mirror-1
  sdc
  sdd
"""
REMOVAL = """\
remove: Evacuation of mirror-1 in progress since Thu Mar 14 09:01:33 2024
\t412G copied out of 1.91T at 188M/s, 21.04% done, 2h20m to go"""
"""Lines that follow ``scan:`` while a vdev is removed."""


def status(scan: str, tree: str = RAIDZ2, *, state: str = "DEGRADED") -> str:
    """Return a status of the pool tank as it is printed.

    Parameters
    ----------
    scan : str
        What stands behind ``scan:``, further lines with their tab.
    tree : str
        A line a vdev, indented by two a level: its name, its state unless ONLINE, and what stands behind its
        errors, in brackets or braces.
    state : str
        Of the pool and its root.
    """
    below = (f"  {line}" for line in tree.strip("\n").split("\n"))
    rows = [_row(line) for line in (f"tank {state}", *below)]
    width = max(len(name) for name, *_ in rows)
    wide = max(len("STATE"), *(len(found) for _, found, _ in rows))
    lines = [f"{name:{width}}  {found:{wide}}     0     0     0{told}" for name, found, told in rows]
    head = f"{'NAME':{width}}  {'STATE':{wide}}  READ WRITE CKSUM"
    return (
        f"  pool: tank\n state: {state}\n  scan: {scan}\nconfig:\n\n"
        + "".join(f"\t{line}\n" for line in (head, *lines))
        + "\nerrors: No known data errors\n"
    )


def _row(line: str) -> tuple[str, str, str]:
    """Return the indented name of a vdev, its state, and what stands behind its errors."""
    name, *words = line.split()
    indent = " " * (len(line) - len(line.lstrip()))
    state = words.pop(0) if words and words[0].isupper() else "ONLINE"
    return indent + name, state, "".join(f"  {word}" for word in (" ".join(words),) if word)
