"""Statuses as zpool does not print them: in one line, lines of progress alone, text of TrueNAS' pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from zsim.observe.texts import NUMBER, moment, nice_bytes, printed_moment

UNKNOWN = "unknown"
"""Name of a pool that no output names."""
HEAD = f"  pool: {UNKNOWN}\n state: ONLINE\n"
MOST_LINES = 10_000
STATES = "ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|SUSPENDED"
_COUNT = r"[ \t]{1,8}(?:\d[\d.,]{0,8}[KMGT]?|-)"
_ROW = re.compile(rf"[ \t]+(?=\S{{1,255}}[ \t]{{1,8}}(?:{STATES}){_COUNT}{_COUNT}{_COUNT}(?:\s|\Z))")
_SPARE = re.compile(
    r"[ \t]+(?=(?:logs|cache|spares|special|dedup)\s+\S{1,255}[ \t]+[A-Z]"
    r"|\S{1,255}[ \t]+(?:AVAIL|INUSE)\b)"
)
_FOLDED = re.compile(
    r"^[^\n]*NAME[ \t]+STATE[ \t]+READ[ \t]+WRITE[ \t]+CKSUM[ \t]+[^\s][^\n]*$", re.MULTILINE
)
_FOLDED_KEY = re.compile(
    r"[ \t]+(?=(?:pool|state|status|action|see|scan|scrub|remove|expand|config|errors):[ \t])"
    r"|[ \t]+(?=NAME[ \t]+STATE[ \t]+READ)"
)
_SINCE = re.compile(r"(since \w{3} \w{3} {1,2}\d{1,2} [\d:]{8} \d{4})[ \t]+")
_PROXMOX = re.compile(r"^[ \t]{0,12}Name[ \t]+Health[ \t]+READ[ \t]+WRITE[ \t]+CKSUM\b[^\n]*$", re.MULTILINE)
"""Of the details of a pool in its web interface (pve-manager)."""
_PROXMOX_KEY = re.compile(r"^[ \t]{0,12}(Health|Scan|Status|Action|Errors):?[ \t]+", re.MULTILINE)
_PROXMOX_KEYS = {"Health": "state"}
_PROGRESS = re.compile(
    r"^(?=[^\n]{0,160}scanned )(?P<when>[^\n]{0,110}?)(?:scan:[ \t]*)?"
    rf"(?P<counters>{NUMBER} scanned out of (?P<total>{NUMBER})"
    rf" at (?P<rate>{NUMBER})/s[^\n]{{0,60}}"
    rf"|{NUMBER}(?: / {NUMBER})? scanned at {NUMBER}/s,"
    rf" {NUMBER}(?: / {NUMBER})? issued at {NUMBER}/s[^\n]{{0,60}})$",
    re.MULTILINE,
)
_SHARES = re.compile(
    rf"^[ \t]{{0,24}}(?P<counters>{NUMBER} (?P<what>resilvered|repaired),"
    r" \d{1,3}(?:[.,]\d{1,4})?% done[^\n]{0,60})$",
    re.MULTILINE | re.ASCII,
)
_PAGE_SCAN = re.compile(
    r"^[ \t]{0,12}(?P<what>Resilvering|Scrub In Progress):?\s{0,4}(?P<done>\d{1,3}(?:[.,]\d{1,4})?) ?%",
    re.MULTILINE,
)
_PAGE_LEFT = re.compile(r"^[ \t]{0,12}([\w ,]{4,80}?) remaining\b", re.MULTILINE)
_STATUS_PAGE = re.compile(
    r"^[ \t]{0,12}(?P<what>RESILVER|SCRUB|Resilver|Scrub)[ \t]*\n+[ \t]{0,12}Status:[ \t]*SCANNING\b",
    re.MULTILINE,
)
_PAGE_FIELDS = {
    name: re.compile(rf"^[ \t]{{0,12}}{words}:[ \t]*([^\n]{{1,60}})$", re.MULTILINE)
    for name, words in (("done", "Completed"), ("left", "Time Remaining"), ("date", "Date"))
}
_PAGE_TABLE = re.compile(
    r"^[ \t]{0,12}Name[ \t]+Read[ \t]+Write[ \t]+Checksum[ \t]+Status\b[^\n]*$", re.MULTILINE
)
_PAGE_ROW = re.compile(
    rf"[ \t]*(\S{{1,255}})[ \t]+(\d{{1,9}})[ \t]+(\d{{1,9}})[ \t]+(\d{{1,9}})[ \t]+({STATES})\b"
)
_PARTS = re.compile(r"(\d{1,6})\s{0,2}(day|hour|minute|second|[dhms])", re.IGNORECASE)
_UNIT_S = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_KINDS = ("RAIDZ1", "RAIDZ2", "RAIDZ3", "RAIDZ", "MIRROR", "REPLACING", "SPARE")


def unfolded(text: str) -> str:
    """Return a text whose status stands in one line, as chats and web pages make of it, in lines again.

    What Proxmox shows of a pool has other words for keys and columns.
    """
    if _PROXMOX.search(text):
        text = _PROXMOX.sub("config:\nNAME STATE READ WRITE CKSUM", text)
        text = _PROXMOX_KEY.sub(lambda key: f"{_PROXMOX_KEYS.get(key[1], key[1].lower())}: ", text)
        text = _SINCE.sub(r"\1\n\t", text)
    return _FOLDED.sub(_in_lines, text)


def _in_lines(match: re.Match[str]) -> str:
    line = _FOLDED_KEY.sub("\n", match[0])
    head, _, rows = line.partition("\nNAME")
    table = _SPARE.sub("\n", _ROW.sub("\n", f"NAME{rows}")) if rows else ""
    return _SINCE.sub(r"\1\n\t", head) + (f"\n{table}" if table else "")


def as_status_of_progress(text: str) -> str | None:
    """Return lines of progress as statuses, each with its date where one stands before it; None without any.

    What ``zpool status | grep scanned`` leaves in a loop. In legacy order the rate is the mean since the scan
    began, so that it tells when that was.
    """
    found = [each for _, each in zip(range(MOST_LINES), _PROGRESS.finditer(text), strict=False)]
    if not found:
        return None
    reads = "scrub" in text or any("repaired" in each["counters"] for each in found)
    what = "scrub" if reads and "resilver" not in text else "resilver"
    statuses = (
        f"{dated}{HEAD}  scan: {what} in progress{since}\n    {counters}\n"
        for dated, since, counters in _dated(found)
    )
    return "".join([_PROGRESS.sub("", text), "\n", *statuses])


def as_status_of_shares(text: str) -> str | None:
    """Return what ``zpool status | grep done`` leaves as statuses, in place; None without any."""
    if _SHARES.search(text) is None:
        return None

    def told(line: re.Match[str]) -> str:
        what = "scrub" if line["what"] == "repaired" else "resilver"
        return f"{HEAD}  scan: {what} in progress\n\t{line['counters']}\n"

    return _SHARES.sub(told, text, MOST_LINES)


def _dated(found: list[re.Match[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield each line of progress with its date and the begin of its scan, as far as they are known."""
    begun: datetime | None = None
    before = -1
    for match in found:
        scanned = nice_bytes(match["counters"].split()[0]) or 0
        at = moment(match["when"])
        if scanned < before or begun is None:
            rate = nice_bytes(match["rate"]) if match["rate"] else None
            begun = (at - timedelta(seconds=scanned // rate)) if at is not None and rate else None
        before = scanned
        dated = f"{printed_moment(at)}\n" if at is not None else ""
        yield dated, _since(begun), match["counters"]


def as_status_of_page(text: str) -> str | None:
    """Return what TrueNAS shows of a pool in its web interface as a status; None where it shows no scan.

    SCALE: ``Resilvering: 23.45%`` and ``10 hours 23 minutes remaining`` of the health of a pool. CORE: the
    status of a pool with its table, whose ``Date`` is that of the begin.
    """
    shown = _PAGE_SCAN.search(text)
    page = _STATUS_PAGE.search(text) if shown is None else None
    if shown is not None:
        what, done = shown["what"], shown["done"]
        left = _PAGE_LEFT.search(text, shown.end())
        said = left[1] if left else ""
        date = ""
    elif page is not None:
        fields = {name: form.search(text, page.end()) for name, form in _PAGE_FIELDS.items()}
        what, (done, said, date) = page["what"], (found[1] if found else "" for found in fields.values())
    else:
        return None
    function = "scrub" if what.lower().startswith("scrub") else "resilver"
    begun = moment(date) if date else None
    parts = [f"{done.strip().rstrip('% ')}% done"] if done else []
    parts += [f"{_clock(seconds)} to go"] if (seconds := _seconds(said)) else []
    rest = _PAGE_FIELDS["date"].sub("", text)
    scan = f"  scan: {function} in progress{_since(begun)}\n\t{', '.join(parts)}\n"
    return f"{rest}\n{HEAD}{scan}{_page_table(text)}"


def _since(begun: datetime | None) -> str:
    """Return when a scan began, as the line that tells its kind goes on; nothing where nobody says it."""
    return "" if begun is None else f" since {printed_moment(begun)}"


def _clock(seconds: int) -> str:
    """Return a time as zpool prints it from 0.8 on, which is what these pages are of."""
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days} days {clock}" if days else clock


def _seconds(text: str) -> int:
    """Return ``1 day 10 hours``, ``0 days, 10:23:11`` or ``37391 Seconds`` [s]; 0 where none is said."""
    clock = re.search(r"(\d{1,4}):(\d\d):(\d\d)", text)
    parts = sum(int(count) * _UNIT_S[unit[0].lower()] for count, unit in _PARTS.findall(text))
    return parts + (int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]) if clock else 0)


def _page_table(text: str) -> str:
    """Return the table of the status page in the columns and with the names of zpool."""
    table = _PAGE_TABLE.search(text)
    if table is None:
        return ""
    rows, numbers = [], {"top": 0, "pair": 0}
    for line in text[table.end() :].split("\n")[:MOST_LINES]:
        match = _PAGE_ROW.match(line)
        if match is None:
            continue
        name, state = match[1], match[5]
        if name.upper() in _KINDS:
            which = "pair" if name.upper() in ("REPLACING", "SPARE") else "top"
            name = f"{name.lower()}-{numbers[which]}"
            numbers[which] += 1
        rows.append(f"{name} {state} {match[2]} {match[3]} {match[4]}\n")
    return "config:\nNAME STATE READ WRITE CKSUM\n" + "".join(rows) if rows else ""
