"""The scenario: what the user stated.

A field that is None was not stated.  `zsim.case.resolve` supplies what is missing and lists every
assumption it makes.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from pydantic import ValidationError, model_validator

from zsim.base.errors import InputError, check_kind, check_path
from zsim.scenario import files
from zsim.scenario.checks import check_scenario
from zsim.scenario.fields import Fields
from zsim.scenario.messages import input_error

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields, OtherFields
    from zsim.scenario.layout import Layout


class Scenario(Fields):
    """A pool, a failure and the circumstances, as far as they are stated.

    Raises
    ------
    InputError
        In one sentence that names the field, when a value cannot be used or two contradict each other.

    Examples
    --------
    >>> scenario = Scenario(layout="raidz2x6", fill="62%", release="2.1.5")
    >>> scenario.pool_layout.leaves, scenario.fill
    (6, 0.62)
    """

    @model_validator(mode="wrap")
    @classmethod
    def _one_sentence(cls, data: object, handler: Callable[[object], Self]) -> Self:
        """Turn what pydantic finds into an `InputError`, which passes through it untouched."""
        try:
            scenario = handler(data)
        except ValidationError as error:
            raise input_error(error, cls.field_infos()) from None
        check_scenario(scenario)
        return scenario

    if TYPE_CHECKING:  # pydantic's own takes the types after reading: sizes would be no text

        def __init__(self, *, layout: str | Layout, **fields: Unpack[OtherFields]) -> None: ...

    else:

        def __setattr__(self, name: str, value: object) -> None:
            raise InputError(name, value, "a scenario does not change", f"write scenario.replace({name}=...)")

    def replace(self, **changes: Unpack[AnyFields]) -> Self:
        """Return the scenario with some fields set otherwise (None: not stated), checked anew.

        `copy.replace` does the same from Python 3.13 on.  The field ``replace``, the number of drives
        replaced, is set as all others are and read as ``replaced_drives``.
        """
        return self.changed(changes)

    def replaced_by(self, **changes: Unpack[AnyFields]) -> Self:
        """Return the same as `replace`, whose older name this is."""
        return self.changed(changes)

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return the same as `replace` with the changes in a mapping; ``fill`` puts ``alloc`` aside."""
        return type(self).model_validate(files.over(self.stated(), changes))

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """Return the same as `changed`: pydantic's own would check nothing."""
        del deep  # a scenario is frozen, and so is all that is in it
        return self.changed(update or {})

    def __replace__(self, **changes: Unpack[AnyFields]) -> Self:
        return self.changed(changes)

    def __repr__(self) -> str:
        """Return what is stated, as it would be typed."""
        told = ", ".join(f"{name}={value!r}" for name, value in self.stated().items())
        return f"{type(self).__name__}({told})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return what is stated as a scenario file has it, for notebooks."""
        return f'<pre class="zsim">{html.escape(self.to_toml())}</pre>'

    def with_overrides(self, settings: Iterable[str]) -> Self:
        """Return the scenario with ``KEY=VALUE`` settings applied (`zsim.scenario.files.apply_overrides`)."""
        return type(self).model_validate(files.apply_overrides(self.stated(), settings))

    def stated(self) -> dict[str, object]:
        """Return what is stated, as plain data that `from_dict` reads (numbers in SI, names as text)."""
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the scenario of plain data, as `stated` gives it or a TOML file holds it."""
        check_kind("scenario", data, (Mapping,), "it is a mapping of fields to values", "give a dict")
        return cls.model_validate(dict(data))

    @classmethod
    def read(cls, path: str | Path, overrides: Iterable[str] = ()) -> Self:
        """Return the scenario of a TOML file, with ``KEY=VALUE`` overrides applied.

        Raises
        ------
        InputError
            Naming the file, when it cannot be read or something in it cannot be used.
        """
        check_path("scenario", path)
        return cls.model_validate(files.apply_overrides(files.read_scenario(Path(path)), overrides))

    def to_toml(self) -> str:
        """Return the scenario as TOML, sizes written with units where that is exact."""
        return files.scenario_toml(self.stated())

    def write(self, path: str | Path) -> None:
        """Write the scenario as TOML; the file appears whole or not at all."""
        files.write_scenario(Path(path), self.stated())

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, object] | None = None,
    ) -> bool | None:
        """Complete the class, as pydantic does when it is first used, and keep the signature."""
        found = super().model_rebuild(
            force=force,
            raise_errors=raise_errors,
            _parent_namespace_depth=_parent_namespace_depth + 1,
            _types_namespace=_types_namespace,
        )
        cls.__signature__ = _signature()
        return found

    @classmethod
    def json_schema(cls) -> dict[str, object]:
        """Return the JSON Schema of a scenario file, for editors and other programs."""
        schema = {**cls.model_json_schema(), "description": (cls.__doc__ or "").partition("\n")[0]}
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _with_fields(text: str) -> str:
    """Return what `help` shows first: the class, and every field with what it means."""
    head, raises, rest = inspect.cleandoc(text).partition("Raises\n")
    fields = "\n".join(f"{name}\n    {info.description}" for name, info in Scenario.field_infos().items())
    return f"{head}Parameters\n----------\n{fields}\n\n{raises}{rest}"


def _signature() -> inspect.Signature:
    """Return the fields and their defaults: how pydantic reads each is of no use to who reads its name."""
    made = inspect.Parameter
    return inspect.Signature(
        [
            made(name, made.KEYWORD_ONLY, default=made.empty if info.is_required() else info.get_default())
            for name, info in Scenario.field_infos().items()
        ]
    )


Scenario.__doc__ = _with_fields(Scenario.__doc__ or "")
Scenario.__signature__ = _signature()
