"""A user's own defaults: fields of the scenario that apply unless a command line or a file says otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import is_plain_file, read_toml, stat_of

VARIABLE = "ZSIM_CONFIG"
"""Names another file; empty: none is read."""
TABLE = "scenario"


def defaults_file() -> Path | None:
    """Return where the defaults are looked for, as programs of this system keep theirs.

    Raises
    ------
    InputError
        When the variable names the home of nobody.
    """
    stated = os.environ.get(VARIABLE)
    if stated is not None:
        try:
            return Path(stated).expanduser() if stated else None
        except RuntimeError as error:
            raise InputError(VARIABLE, stated, "there is no such user", "give the path of a file") from error
    try:
        home = Path.home()
    except (RuntimeError, KeyError):
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "zsim" / "config.toml"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "zsim" / "config.toml"
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (given if given.is_absolute() else home / ".config") / "zsim" / "config.toml"


def defaults() -> dict[str, object]:
    """Return the fields that the user's file states; empty where there is none.

    Raises
    ------
    InputError
        When the file cannot be read, holds anything but fields of a scenario, or is named and not there.
    """
    path = defaults_file()
    if path is None or not is_plain_file(stat_of(path, VARIABLE)):
        if path is not None and os.environ.get(VARIABLE) not in {None, os.devnull}:
            raise InputError(VARIABLE, str(path), "no file is there", "give the path of a file, or unset it")
        return {}
    data = read_toml(path, "defaults", "correct or remove it")
    others = sorted(set(data) - {TABLE})
    if others:
        raise InputError(str(path), others[0], f"its one table is [{TABLE}]", "move it there")
    fields = data.get(TABLE, {})
    if not isinstance(fields, dict):
        raise InputError(str(path), str(fields), f"[{TABLE}] is a table of fields", "write [scenario]")
    if "layout" in fields:
        raise InputError(str(path), fields["layout"], "a layout is no default", "state it with --layout")
    return fields
