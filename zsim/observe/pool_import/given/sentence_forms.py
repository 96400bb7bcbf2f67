"""The forms in which a sentence says what a pool is: ``8x 16TB``, ``3 raidz2 vdevs``, ``60% full``.

Of a match the named groups are what was understood; words between them are looked at again.
"""

from __future__ import annotations

import re

from zsim.base.units import DAY, HOUR, MINUTE, format_bytes, parse_bytes, parse_drive_size

COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_N = rf"(?:\d{{1,4}}|{'|'.join(COUNTS)})"
_START = r"(?<![\w.,-])"
_SIZE = r"(?P<size>\d{1,5}(?:\.\d{1,3})?)[ -]?(?P<unit>[GT])(?P<binary>i?)(?P<byte>B?)(?![\w/])"
_NO_DATA = (
    r"(?! (?:of )?(?:data|used|stored|full|free|left|avail\w*|remaining|alloc\w*|usable|in use|written)\b)"
)
_KINDS = r"(?:raid[ -]?z|z[1-3]\b|raid[ -]?(?:5|6|10)\b|mirror)"
_RAIDZ = r"raid[ -]?z(?:[ -]?[1-3])?"
_NOT_IN_VDEVS = rf"(?!.*\bin {_N}(?: ?x)? (?:\w+ )?vdevs\b)"
_DRIVES = r"(?:drives?|disks?|hdds?|ssds?)"
_BETWEEN = r"(?:[a-z][\w.-]{0,20} ){0,4}?"


def _form(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


LAYOUT = _form(
    r"(?<!\S)(?:(?P<times>\d{1,4}) ?[x*] ?)?(?P<vdev>(?:raid-?z|mirror|draid)[^\s,;()]*\d[^\s,;()]*)"
    r"(?: ?[x*] ?(?P<more>\d{1,4})(?![\w.%]))?"
)
"""Vdevs as they are typed, which `Layout.parse` reads, perhaps so many times."""

CLASSED = _form(r"\b(?:special|log|dedup|cache|spare):")

_AMOUNT = r"\d{1,5}(?:\.\d{1,3})? ?[GTP]i?B?"
CALLED = {"expand": "an expansion"}
"""Scans that are called otherwise in a sentence."""
_SCANS = r"resilver|rebuild|scrub|expan(?=sion|ding|d)"
_SCAN = rf"(?:\b(?P<scan>{_SCANS})(?P<ending>ing|ed|sion|ding|d)?[,:]? (?:is |at )?)?"
RUNNING = (
    _form(
        rf"{_SCAN}{_START}(?P<done>\d{{1,2}}(?:\.\d+)?) ?(?P<sign>%)"
        r" (?P<said>done|complete[d]?|through)\b"
    ),
    _form(
        rf"\b(?P<scan>{_SCANS})(?P<ending>ing|ed|sion|ding|d)?[,:]?"
        r"(?: (?:is|has|at|now|only|currently|stuck|running|got|so far|about|done|completed?))*,?"
        r" (?P<done>\d{1,2}(?:\.\d+)?) ?(?P<sign>%)(?! ?(?:full|used|of|frag|free))"
    ),
    _form(
        rf"{_SCAN}{_START}(?P<part>{_AMOUNT}) (?P<of>of|out of|/) (?P<whole>{_AMOUNT})"
        r" (?P<said>done|complete[d]?|scanned|issued|copied|resilvered)\b"
    ),
)
"""A scan that runs, and how far it is: as a share, or in bytes."""
_UNIT = r"h|hours?|d|days?|min|minutes?"
_MORE = r"(?:,? ?(?:and )?(?P<more>\d{1,2}) ?(?P<smaller>h|hours?|m|min|minutes?))?"
UNITS = {"d": DAY, "h": HOUR, "m": MINUTE}
"""Of a time, by its first letter [s]."""
RUNNING_APART = _form(
    r"(?:(?<!pool )(?<!pool is )\b(?P<said>(?:is|now|still|stuck|currently) at) )?"
    r"(?<![\w.-])(?P<done>\d{1,2}(?:\.\d+)?) ?(?P<sign>%)"
    r"(?(said)(?! ?(?:full|used|of|frag|free|cap))"
    rf"|(?= (?:after|in|for)(?: about)? \d{{1,4}}(?:\.\d+)? ?(?:{_UNIT})\b))"
)
"""How far a scan is that is named elsewhere in the sentence: ``the resilver of 4x 8TB is at 33%``."""
SCAN = _form(rf"\b(?P<scan>{_SCANS})")
ELAPSED = _form(
    r"\b(?P<after>(?:running )?(?:after|in|for)|running)(?: about)?"
    rf" (?P<elapsed>\d{{1,4}}(?:\.\d+)?) ?(?P<hours>{_UNIT}){_MORE}\b"
    rf"|(?<![\w.])(?P<before>\d{{1,4}}(?:\.\d+)?) ?(?P<units>{_UNIT}) (?P<ago>ago|in)\b"
)
"""How long it has run."""
FINISHED = _form(
    r"\b(?P<whose>(?:last|a|each|every|the) )?(?P<scan>resilver|scrub)s?"
    r" (?P<said>takes?|took|lasts?|lasted|needs?|finishe[sd] in)"
    rf"(?: about)? (?P<elapsed>\d{{1,4}}(?:\.\d+)?) ?(?P<hours>{_UNIT}){_MORE}\b"
)
"""How long an earlier scan took."""


def seconds_in(match: re.Match[str]) -> float:
    """Return the time of `ELAPSED` or `FINISHED`, as in ``8h53m`` or ``3 days ago`` [s]."""
    said = match.groupdict()
    number, unit = said["elapsed"] or said.get("before"), said["hours"] or said.get("units")
    more = float(said["more"]) * UNITS[said["smaller"][0].lower()] if said["more"] else 0.0
    return float(str(number)) * UNITS[str(unit)[0].lower()] + more


DATA = _form(
    rf"{_START}(?P<amount>{_AMOUNT})(?: of)?"
    r" (?P<said>alloc(?:ated)?|data|used|stored|written|in use|full)\b"
)
"""How much a pool holds: ALLOC, else data without parity."""
FREE = _form(
    rf"{_START}(?P<amount>{_AMOUNT})(?: of)?(?: space)?"
    r" (?P<said>free|left|avail(?:able)?|remaining)\b(?: (?P<space>space))?"
)
"""How much data it has room for."""
PART_OF = _form(
    rf"{_START}(?P<part>{_AMOUNT}) (?P<said>used|full|alloc(?:ated)?|in use)(?P<of> of| out of| ?/) ?"
    rf"(?P<whole>{_AMOUNT})(?: (?P<more>total|usable))?"
)
PART_FULL = _form(
    r"\b(?:about |roughly )?(?P<part>half|(?:a |one |1 )?third|(?:a |one )?quarter|two thirds"
    r"|three quarters)[ -](?P<said>full|used)\b"
)
PARTS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "two thirds": 2 / 3, "three quarters": 0.75}

FACTS = {
    "frag": _form(rf"{_START}(?P<frag>\d{{1,3}} ?%) (?P<said>frag\w*)"),
    "free": _form(rf"{_START}(?P<free>\d{{1,3}}) ?(?P<sign>%) (?P<said>free)\b"),
    "fill": _form(
        rf"(?:\b(?P<is>used|usage|capacity|utili[sz]ation|cap)[ :]{{1,2}})?{_START}"
        r"(?P<fill>\d{1,3}(?:\.\d+)?) ?(?P<sign>%)(?! (?:of|done|compress))"
        r"(?: (?P<said>full|used|capacity|cap|utili[sz]ation|usage)\b)?"
    ),
    "memory": _form(rf"{_START}(?P<memory>\d{{1,4}} ?[GT])(?P<unit>i?B?)(?: of)? (?P<said>ram|memory)\b"),
    "recordsize": _form(
        rf"{_START}(?P<recordsize>\d{{1,4}} ?[KM])(?P<unit>i?B?) (?P<said>(?:record|block)\w*)"
    ),
    "records": _form(r"\b(?P<said>record ?size|volblocksize)(?: of|=)? ?(?P<recordsize>\d{1,4} ?[KM])(?!\w)"),
    "replace": _form(
        rf"{_START}(?P<replace>one|{_N})(?: (?P<of>{_DRIVES}))?(?: (?:has|have|is|are))?"
        r" (?P<said>failed|dead|died|gone|missing|broken|replaced)\b"
    ),
    "spares": _form(rf"{_START}(?:(?P<spares>one|a|{_N})(?P<times> ?x)? )?(?P<said>(?:hot[ -]?)?spares?)\b"),
    "scrub": _form(r"\b(?P<scrub>scrub(?:bing)?)\b"),
    "new": _form(
        r"\b(?P<said>new|(?:replac\w+|swapp?\w*|upgrad\w+) (?:by|with|onto|for|to)(?: an?| new)*)"
        rf" {_SIZE}"
    ),
}
"""What is said of other things than the number and the size of drives."""

DRIVES_AND_VDEVS = (
    _form(rf"{_START}{_SIZE} ?(?P<times>[x*]) ?(?P<count>{_N})(?![\w.%])"),
    _form(rf"{_START}(?P<vdevs>{_N})(?P<times> ?x)? (?P<said>vdevs)\b"),
    _form(rf"{_START}(?P<vdevs>{_N}) ?(?P<times>x) ?(?P<wide>{_N})(?![\w.%]| ?(?:[GT]i?B|wide|way))"),
    _form(rf"{_START}(?P<vdevs>{_N})(?: ?(?P<times>[x*]) ?| )(?={_N}[ -]?(?:wide|disk|drive|way)\b)"),
    _form(rf"{_START}(?P<wide>{_N})[ -]?(?P<said>way)(?=[ -]mirror)"),
    _form(rf"{_START}(?P<vdevs>{_N})(?: ?(?P<times>[x*]) ?| )(?=(?:striped )?{_KINDS})"),
    _form(
        rf"(?:{_RAIDZ}|mirror|vdevs?)(?: vdevs?)? (?:of|with) (?P<wide>{_N})(?![\w.%-]| [GT]i?B)"
        rf"{_NOT_IN_VDEVS}"
    ),
    _form(rf"(?:{_RAIDZ}|mirrors?) ?(?P<times>[x*]) ?(?P<more>{_N})(?![\w.%]| ?[GT]i?B)"),
    _form(rf"(?:{_RAIDZ}|mirror) (?P<wide>{_N})(?=,|$)"),
    _form(rf"{_START}(?P<wide>{_N})[ -]?(?P<said>wide)\b"),
    _form(rf"{_START}(?P<wide>{_N})(?:[ -](?P<said>disk|drive)|-(?P<of>disks|drives))\b"),
    _form(rf"{_START}(?P<count>{_N})(?: ?(?P<times>[x*]) ?|[ -]){_BETWEEN}{_SIZE}{_NO_DATA}"),
    _form(rf"{_START}{_SIZE}{_NO_DATA}"),
    _form(rf"{_START}(?P<count>{_N})(?P<times> ?[x*])? {_BETWEEN}(?P<said>{_DRIVES})\b"),
    _form(rf"{_START}(?P<count>{_N}) ?(?P<times>[x*])(?= |$)"),
    _form(rf"(?<=\bof )(?P<count>{_N})(?![\w.%])"),
)
"""In the order in which they are looked for: what is said of vdevs before what a bare number may count."""
KIND = _form(
    r"(?<!\w)(?P<kind>raid[ -]?z(?:[ -]?(?P<parity>[1-3])(?!\d))?|z(?P<bare>[1-3])|raid[ -]?(?P<old>5|6|10)"
    r"|(?P<copies>mirror(?:s|ed)?)(?!-\d))(?!\w)"
)

PLAIN = _form(
    r"(?<!\w)(?P<plain>striped?s?|raid[ -]?0|no redundancy|without redundancy|single (?:disk|drive))(?!\w)"
)
"""Drives of which none stands for another, where no kind of vdev is named: mirrors are striped too."""

PRODUCT = _form(r"\b(truenas|debian|proxmox|freebsd|ubuntu)( (?:scale|core|ve|server))? ?-?(\d+(?:\.\d+)?)\b")
RELEASE = _form(r"\b(openzfs|zfs|zol)[ -]?v?([02]\.\d{1,2}(?:\.\d{1,2})?)\b")
RPM = _form(r"\b(\d{4,5}) ?rpm\b")
DISTRIBUTED = _form(r"\b(?P<kind>d-?raid)-?(?P<parity>[1-3])?\b")
DATA_DRIVES = _form(r"(?<![\w.])(?P<data>\d{1,2}) ?(?P<said>d|data)\b(?! (?:is|was))")
SHINGLED = _form(r"\b(?:smr|shingled)\b")
OF_SERIES = _form(r"(?: (?:x\d\d|dc|hc\d{3}|pro|plus|enterprise|evo|qvo|\d{1,2}e\d{1,2})\b){0,4}")
"""What may follow the name of a series."""
VENDOR = _form(r"\b(?:seagate|wd|western digital|hgst|toshiba|samsung|crucial|intel|micron)\b")

ASIDE = _form(r"\b(?:special|slog|log|zil|cache|l2arc|dedup|metadata|boot)\b")
"""Of drives that are not for data."""
CLAUSES = _form(r",|;|\+|\b(?:and|with|plus)\b")
EACH = _form(r" ?(?:drives?|disks?|hdds?)? ?(?:each|apiece|per vdev|in each)\b")
"""What follows a number of drives that each vdev has."""
PER_VDEV = _form(r"[^,;.]*(?:\b(?:of|with|having|at)\b|\()[^,;.]*")
"""What stands between a number of vdevs and the drives that each of them has."""
WORD = re.compile(r"[^\s,;:!?()|\"']+")
_EMPTY = (
    "a about all an and are array as at bays be by combined configured consisting disk disks do does drive"
    " drives each every for from full hard has have hdd hdds how i in is it its long made mirrored my of on"
    " our pair pairs pool pools raid replace replacement replacing resilver resilvering set setup ssd ssds"
    " striped take takes the there this to total using vdev vdevs wide will with would x zfs zpool"
)
SAYS_NOTHING = frozenset(_EMPTY.split())
"""Words that add nothing to what the forms find."""
TOML = re.compile(r"^[ \t]*[\w.]{1,40}[ \t]*=", re.MULTILINE)
PERCENT = _form(r"(?<=\d) ?(?:percent|per cent|pct)\b")
USABLE = _form(
    rf"(?:\b(?P<need>needs?|wants?|with|for) (?:at least )?)?{_START}(?P<amount>{_AMOUNT})"
    r"(?: of)?(?: net)? (?P<said>usable|net)\b(?: space)?"
)
"""How much data a pool shall hold."""
AMOUNT = re.compile(r"\d ?[GTP]i?B?\b", re.ASCII)
"""An amount of data, where it was not read as a capacity."""
FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,7}$")
"""How the name of a file ends."""
NUMBERS = {
    "count": "numbers of drives",
    "wide": "numbers of drives of a vdev",
    "vdevs": "numbers of vdevs",
    "more": "numbers of vdevs",
}
"""What numbers of a sentence count."""


def amount_of(text: str) -> int:
    """Return an amount of data [bytes]: T as ZFS prints it has 2**40 bytes, as TiB has; TB 10**12."""
    parse = parse_drive_size if text.upper().endswith("B") else parse_bytes
    return parse(text.replace(" ", ""), "data")


def rounded(size: float) -> int:
    """Return an amount in the three digits that ZFS prints."""
    return parse_bytes(format_bytes(round(size)), "alloc")


def running_scan(text: str) -> tuple[re.Match[str], str] | None:
    """Return where a sentence says how far a scan is, and which one it is; None where it does not.

    Returns
    -------
    match : re.Match
        Of one of the forms of `RUNNING`, or of `RUNNING_APART` where one scan is named elsewhere.
    kind : str
        ``resilver`` unless the sentence says otherwise; an expansion has ``copied``.
    """
    match = next((found for form in RUNNING if (found := form.search(text))), None)
    kinds = {found["scan"].lower() for found in SCAN.finditer(text)}
    if match is None and kinds:
        match = RUNNING_APART.search(text)
    if match is None:
        return None
    said = match.groupdict()
    usual = "expan" if str(said.get("said")).lower() == "copied" else "resilver"
    named = said.get("scan") or (kinds.pop() if len(kinds) == 1 else usual)
    return match, named.lower().replace("expan", "expand")
