"""Read answers that were stored as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from zsim.base.errors import InputError
from zsim.base.parsed import Parsed
from zsim.base.reading import MAX_JSON, json_of, read_text
from zsim.prediction.answer.output import SavedAnswer
from zsim.prediction.answer.records import SCHEMA_VERSION, AnswerPart

Record = TypeVar("Record")
REMEDY = "name a file that --json or save() has written"


def check_version(data: object, origin: str) -> Parsed:
    """Return the data of an answer; refuse what is of another schema version.

    Raises
    ------
    InputError
        Naming `origin`, the version found and the one that is read.
    """
    known = data if isinstance(data, dict) else {}
    version = known.get("schema_version")
    if version != SCHEMA_VERSION:
        remedy = "compute it again with this release of zsim"
        raise InputError(f"{origin}: schema_version", version, str(SCHEMA_VERSION), remedy)
    return known


class LoadedAnswer:
    """An answer that is read again from the JSON that it was stored as."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this.

        Parameters
        ----------
        data : dict
            The plain dictionary.
        origin : str
            What to call it in a message, for instance the file's name.

        Raises
        ------
        InputError
            If the data is of another schema version, or no answer of this kind.
        """
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str, origin: str = "answer") -> Self:
        """Return the answer of JSON text; see `from_dict` for what is raised."""
        return cls.from_dict(json_of(text, origin, "result", REMEDY), origin)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the answer that `save` wrote into a file; see `from_dict` for what is raised."""
        return cls.from_json(read_text(path, "file", REMEDY, MAX_JSON), str(path))


class StoredAnswer(AnswerPart, SavedAnswer, LoadedAnswer):
    """An answer made of records, which is stored as JSON and read from it again."""

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        with refused_in_one_sentence(origin):
            return cls.model_validate(known)


class StoredRecord(SavedAnswer, LoadedAnswer):
    """An answer that is a dataclass, which is stored as JSON and read from it again."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        with refused_in_one_sentence(origin):
            return made_of(cls, cls._fields_of(known))

    @classmethod
    def _fields_of(cls, data: Parsed) -> Mapping[str, object]:
        """Return the fields by the names that the class has for them."""
        return data


def made_of(kind: type[Record], fields: object) -> Record:
    """Return a record, or several, of plain data; what it has no field for is passed over."""
    return TypeAdapter(kind).validate_python(fields)


@contextmanager
def refused_in_one_sentence(origin: str) -> Iterator[None]:
    """Turn what pydantic says of the first field that cannot be used into one sentence."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise InputError(f"{origin}: {field}", None, f"every {error.title} has it", REMEDY) from error
        allowed = f"a value of which zsim does not say '{first['msg']}'"
        raise InputError(f"{origin}: {field}", first["input"], allowed, "compute it again") from error
