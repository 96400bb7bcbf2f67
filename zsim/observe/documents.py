"""Texts in which JSON documents and other output stand one after the other."""

from __future__ import annotations

import json
import re

MOST_DOCUMENTS = 1000
MOST_TRIES = 2000
_OPEN = re.compile(r"^[ \t]{0,8}\{", re.MULTILINE)


def split_documents(text: str) -> tuple[list[str], str]:
    """Return the whole JSON documents of a text, and what stands around them.

    A brace that begins a line and opens no whole document is left where it is: zdb prints such, too.
    """
    decoder = json.JSONDecoder()
    documents: list[str] = []
    rest: list[str] = []
    position = 0
    for tries, match in enumerate(_OPEN.finditer(text)):
        begin = match.end() - 1
        if begin < position:
            continue
        if tries >= MOST_TRIES or len(documents) >= MOST_DOCUMENTS:
            break
        try:
            value, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value:
            documents.append(text[begin:end])
            rest.append(text[position:begin])
            position = end
    rest.append(text[position:])
    return documents, "".join(rest)
