"""Sentences about a pool in other languages: their words for drives, sizes and shares in English.

A sentence about a pool is mostly numbers, units and names of layouts, which are the same everywhere; the
rest is some dozen words in each language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator


def _counts(*words: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a language's words for two and the numbers after it."""
    return ((rf"\b{word}\b", str(number)) for number, word in enumerate(words, start=2))


_WORDS: tuple[tuple[str, str], ...] = (
    # German
    (r"\b(?:fest)?platten?\b|\blaufwerken?\b|\blaufwerks?\b", "disks"),
    (r"\b(?:gespiegelte?[nrs]?|spiegel)\b", "mirror"),
    (r"\b(?:voll|gefüllt)\b", "full"),
    (r"\b(?:belegt|genutzt|verwendet|daten)\b", "used"),
    (r"\b(?:ausgefallen|defekt|kaputt|gestorben|verstorben)\b", "failed"),
    (r"\b(?:eine?|einer)(?= (?:disks )?(?:ist )?failed)", "1"),
    *_counts("zwei", "drei", "vier"),
    (r"(?<=disks )ist (?=failed)", ""),
    (r"\b(?:halb(?= full))", "half"),
    (r"\bstunden?\b|\bheures?\b|\bhoras?\b|\b(?<=\d )ore\b|\bчас(?:а|ов)?\b|小时|時間", "hours"),
    (r"\btagen?\b|\btage\b|\bjours?\b|\bd[ií]as?\b|\bgiorni\b|\bдн(?:я|ей)\b", "days"),
    (r"\b(?:fertig|abgeschlossen|terminée?|hecho|completado|completato|завершен\w*)\b|完成|完了", "done"),
    (r"\b(?:seit|depuis|desde hace)(?= \d)", "for"),
    # French
    (r"\bdisques?(?: durs?)?\b", "disks"),
    (r"(?<=\d)( ?)(?-i:T(i?)o)\b", r"\1T\2B"),
    (r"(?<=\d)( ?)(?-i:G(i?)o)\b", r"\1G\2B"),
    (r"\bmiroirs?\b|\bespejos?\b|\bspecchio\b", "mirror"),
    (r"\b(?:plein|rempli|occupé|utilisé)e?s?\b", "used"),
    (r"\ben panne\b|\b(?:mort|morts|mortes?)\b", "failed"),
    (r"\bune?(?= (?:disks )?(?:est )?failed)", "1"),
    *_counts("deux", "trois", "quatre"),
    (r"(?<=disks )est (?=failed)", ""),
    # Spanish, Italian, Portuguese, Dutch
    (r"\bdiscos?(?: duros?)?\b|\bdischi\b|\bdisco\b|\bschijven\b|\bschijf\b", "disks"),
    (r"\b(?:llen|ocupad|usad|utilizad|usat|pien|chei)[oae]s?\b|\bpieni\b|\bgebruikt\b", "used"),
    (r"\b(?:falló|fallad[oa]s?|muert[oa]s?|guast[oie]|rott[oi]|mort[oi]|falhou|kapot)\b", "failed"),
    *_counts("dos", "tres", "cuatro"),
    (r"\b(?:un|uno|een|um)(?= disks (?:ha |está |è |is )?failed)", "1"),
    (r"(?<=disks )(?:ha|está|è) (?=failed)", ""),
    # Russian and Ukrainian
    (r"\b(?:жё?е?стк\w* )?диск\w*", "disks"),
    (r"(?<=\d)( ?)Ти?[Бб]\b", r"\1TB"),
    (r"(?<=\d)( ?)Ги?[Бб]\b", r"\1GB"),
    (r"\b(?:заполнен|занят|использован)\w*", "used"),
    (r"\bзеркал\w*", "mirror"),
    (r"\b(?:умер|сдох|отказал|вышел из строя)\w*", "failed"),
    (r"\bодин(?= (?:disks )?failed)", "1"),
    (r"(?<=\d) по (?=\d)", " x "),
    # Chinese and Japanese
    (r"(\d+) ?(?:块|块盘|个|颗|片|台|本|枚|個)(?=(?:が|目)?(?:故障|坏|损坏|死))", r", \1 disks "),
    (r"(\d+) ?(?:块|个|颗|片|台|本|枚|個)", r"\1 disks "),
    (r"坏了?(?:一|1)(?:块|个|颗)(?:盘)?", " 1 disks failed "),
    (r"(?:が|目)?故障(?:しました|した|中)?|损坏", "failed "),
    (r"硬盘|磁盘|ディスク|ハード", " disks "),
    (r"镜像|鏡像|ミラー", " mirror "),
    (r"(?:使用率|已使用|已用|使用了|用了|占用)(?:が|は|约|为)? ?(\d+(?:\.\d+)?) ?%", r", \1% used "),
    (r"(?:已使用|已用|使用了|用了) ?(\d+(?:\.\d+)?) ?([GTP])(i?)B?", r", \1\2\3B used "),
    (r"の|で|を|组成|组的|组|的", " "),
    (r"[、。，；]", ", "),
)  # fmt: skip
_FORMS = tuple((re.compile(words, re.IGNORECASE), english) for words, english in _WORDS)
_BETWEEN = (
    (re.compile(r"\b(?:mit|avec|con|com|met)\b(?: je\b)?", re.IGNORECASE), "with"),
    (re.compile(r"\b(?:aus|von|de|di|da|van|из)\b", re.IGNORECASE), "of"),
)
"""Which of several numbers counts the drives of a vdev hangs on these."""
_SHARE_BEHIND = re.compile(r"\b(?P<said>used|full) (?:a|al|à|auf|на|om|em|for)? ?(?P<share>\d{1,3} ?%)")
"""``plein à 80 %``: the share stands behind its word."""
_EMPTY = (
    "ich habe hab wir haben ein eine einen einem der die das den dem im und ist sind zu je wie lange"
    " dauert das resilvern läuft läuft es bis pro jeweils"
    " j ai j'ai nous avons un une le la les du des en est combien temps prend et par pour à au"
    " tengo tenemos el los las al del y por cuánto cuanto tarda tardará cada uno"
    " ho il lo gli quanto tempo ci vuole tenho o os um uma quanto demora ik heb een hoe lang duurt"
    " у меня нас в на и по сколько времени будет займёт займет ресильвер"
    " 要多久 多久 しました す"
)
SAYS_NOTHING = frozenset(_EMPTY.split())
"""Words of these languages that add nothing to what the forms find."""


LONGEST = 4000
"""Characters of a text that may be a sentence."""


def in_english(text: str) -> str:
    """Return a sentence with the words that other languages have for a pool in English; others unchanged."""
    if len(text) > LONGEST:
        return text
    found = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    for form, english in _FORMS:
        found = form.sub(english, found)
    if found == text:
        return text
    for form, english in _BETWEEN:
        found = form.sub(english, found)
    return _SHARE_BEHIND.sub(r"\g<share> \g<said>", " ".join(found.split()))
