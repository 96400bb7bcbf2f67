"""What happens to a status on its way into a chat, a page or a picture, undone where that is certain."""

from __future__ import annotations

import html
import json
import re

LONGEST_LINE = 1_000_000
"""Characters: every reader searches its patterns through a text, for seconds if 30 million are one line."""
_SIGNS = str.maketrans({
    **dict.fromkeys("\u00a0\u202f\u2007\u2009\u3000", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad"),
})  # fmt: skip
"""Blanks, hyphens and quotes that editors put for plain ones, and signs without width, which go."""
_ENTITY = re.compile(r"&(?:nbsp|lt|gt|amp|quot|tab|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)
_KEYS = "pool|state|status|action|see|scan|scrub|remove|expand|config|errors"
_MARKED_KEY = re.compile(
    rf"^([ \t]{{0,12}})(?:\*\*|__|`)?({_KEYS})(?:(?:\*\*|__|`)[ \t]{{0,4}}[:\uff1a]"
    rf"|[ \t]{{1,4}}:|[ \t]{{0,4}}\uff1a|:(?:\*\*|__|`))(?=[ \t]|$)",
    re.MULTILINE,
)
"""A key in bold, with a blank before its colon, or with the wide colon of East Asian keyboards."""
_MARKS = ("**", "__", "`", " :", "\t:", "\uff1a")
"""One of them is in each: outputs of zdb are long, and have none."""
_WIDE_COLON = re.compile(r"(?<=\d)\uff1a(?=\d\d)")
_ESCAPED = re.compile(r"(?:^|[\"'\s])(?:\\t| ){0,40}pool: [^\\\n]{1,255}\\n(?:\\t| ){0,40}(?:id|state):")
_LISTED = re.compile(r'^[ \t]{0,40}"[ \t]{0,12}pool: [^"\n]{1,255}",?[ \t]*$', re.MULTILINE)
_LISTED_LINE = re.compile(r'^[ \t]{0,40}("(?:[^"\\\n]|\\.){0,4000}"),?[ \t]*$', re.MULTILINE)
"""Lines as Ansible prints them (``stdout_lines``)."""
_CAPITALS = re.compile(
    r"^[ \t]{0,12}POOL:[ \t]*\S[^\n]*\n(?:[^\na-z]*\n){0,20}?[ \t]{0,12}(?:STATE|SCAN):", re.MULTILINE
)
_KEPT_ROW = re.compile(r"^[ \t]*(?:NAME[ \t]+STATE\b|STATE:|POOL:)")
_ROW_OF = re.compile(
    r"^([ \t]*\S{1,255}[ \t]+)(ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL|INUSE)\b(.*)$"
)
_OWN_NAME = re.compile(
    r"^[ \t]*(?:RAIDZ[1-3]?(?:-\d+)?|MIRROR(?:-\d+)?|DRAID[^ \t]*|(?:REPLACING|SPARE)(?:-\d+)?"
    r"|(?=ATA-|SCSI-|WWN-|NVME)[A-Z]{3,4}-?|GPTID/|SD[A-Z]{1,3}\d*|A?DA\d+(?:P\d+)?|NVME\d+N\d+(?:P\d+)?)"
    r"(?=[ \t]|$|(?<=[-/]))"
)
"""Names of vdevs, and how those of drives begin."""
_IN_WORDS = re.compile(r"[A-Z]{2,}|(?<=/)S\b|\b\d{1,6}H\d{1,2}M\b")
_LIKE_DIGITS = str.maketrans("OolI|", "00111")
_IN_NUMBER = re.compile(r"(?<![A-Za-z])[lIO](?=[\d.][\d.lIO]{0,8}(?:[KMGTP%]|\b))|(?<=\d)[lIO](?=[\d.%KMGTP])"
                        r"|(?<=\d\.)[lIO](?=[\dlIO%KMGTP])|(?<=\d\.\d)[lIO](?=[%KMGTP])")  # fmt: skip


def are_lines(text: str) -> bool:
    """Tell whether no line of a text is longer than any output has."""
    begin = 0
    while len(text) - begin > LONGEST_LINE:
        # The last end of a line within reach of the first: what lies between needs no look.
        end = text.rfind("\n", begin, begin + LONGEST_LINE + 1)
        if end < 0:
            return False
        begin = end + 1
    return True


def with_plain_signs(text: str) -> str:
    """Return a text with the blanks, hyphens and quotes that a terminal prints, and with its own keys."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _ENTITY.search(text):
        text = html.unescape(text)
    # Markdown's sign before an underscore, which no tool prints.
    text = text.replace("\\_", "_")
    if not text.isascii():
        text = _WIDE_COLON.sub(":", text.translate(_SIGNS))
    return _MARKED_KEY.sub(r"\1\2:", text) if any(sign in text for sign in _MARKS) else text


def unescaped(text: str) -> str:
    r"""Return a status as printed that a program has put into a string, with ``\n`` for ends of lines."""
    if "pool: " not in text:
        return text
    if _LISTED.search(text):
        return _LISTED_LINE.sub(_as_line, text)
    escaped = _ESCAPED.search(text)
    if escaped is None:
        return text
    before, rest = text[: escaped.start()], text[escaped.start() :].lstrip("\"'")
    for found, sign in (("\\r", ""), ("\\n", "\n"), ("\\t", "\t"), ('\\"', '"')):
        rest = rest.replace(found, sign)
    return f"{before}\n{rest}"


def _as_line(match: re.Match[str]) -> str:
    try:
        return str(json.loads(match[1]))
    except ValueError:
        return match[0]


def from_capitals(text: str) -> str:
    """Return a status that was written in capitals throughout as zpool prints it."""
    if _CAPITALS.search(text) is None:
        return text
    return "\n".join(map(_from_capitals, text.split("\n")))


def _from_capitals(line: str) -> str:
    if _KEPT_ROW.match(line):
        key, colon, value = line.partition(":")
        return f"{key.lower()}:{value}" if colon else line
    row = _ROW_OF.match(line)
    if row is not None:
        name = _OWN_NAME.sub(lambda found: found[0].lower(), row[1])
        return f"{name}{row[2]}{row[3].lower()}"
    return _IN_WORDS.sub(lambda word: word[0].lower(), line)


def as_state(word: str, states: frozenset[str]) -> str:
    """Return the state that a word is, with O for 0 and I for 1 or l, which text recognition confuses."""
    if word in states or not any(sign in word for sign in "01l|"):
        return word
    found = word.translate(str.maketrans("01l|", "OIII"))
    return found if found in states else word


def as_count(word: str) -> str:
    """Return a counter of errors, read with 0 for O."""
    return word.translate(_LIKE_DIGITS) if word in ("O", "o", "OO") else word


def as_digits(text: str) -> str:
    """Return text with the digits that letters are mistaken for."""
    return text.translate(_LIKE_DIGITS)


def with_digits(line: str) -> str:
    """Return a line of a scan with digits for the letters that text recognition has put into its numbers."""
    return _IN_NUMBER.sub(lambda sign: sign[0].translate(_LIKE_DIGITS), line)
