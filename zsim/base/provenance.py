"""The provenance of a result: what is needed to compute it again, or to see why two machines differ."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from zsim.base import model_data
from zsim.base.model_data import ModelKind, models_directory
from zsim.base.sources import sources_read

SCHEMA_VERSION = 1
"""Version of the form in which predictions are written."""

FIELD = "Version:"
"""Of the metadata of a distribution."""
LIBRARIES = ("numpy", "scipy", "numba", "simpy", "pydantic")
KERNEL_ROOMS = ("drives", "vdevs", "pool", "scan", "engine", "operation")
NUMBERS = ("prediction", "unknowns")
"""Directories of ``models/`` that every answer depends on."""
OTHER_ROOMS = ("scenario", "prediction")
"""Rooms without compiled code on which an answer depends; so do the ground floor's files."""


def provenance(
    scenario: Mapping[str, object] | None = None,
    seed: int | None = None,
    models: Iterable[tuple[ModelKind, str]] = (),
    files: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Return what a result depends on besides its input data.

    Parameters
    ----------
    scenario : Mapping, optional
        What was stated, as `Scenario.stated` gives it.
    seed : int, optional
        Seed of everything random.
    models : iterable of (kind, name)
        Models used, for example ``("drives", "hd103uj")``.
    files : mapping of str to str, optional
        Files about the pool, by the field of the scenario that names them.

    Returns
    -------
    dict
        Plain data for JSON: versions, platform, seed, SHA-256 of the model files and of the files about the
        pool, hashes of the source text, version of this form, the scenario.

    Raises
    ------
    InputError
        When a model does not exist.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "zsim": version("zsim"),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "platform": {"system": platform.system(), "machine": platform.machine()},
        "seed": seed,
        "models": {f"{kind}/{name}": model_data.model_hash(kind, name) for kind, name in models},
        "files": {name: {"path": path, "sha256": file_hash(path)} for name, path in (files or {}).items()},
        "kernels": kernel_text_hash(),
        "code": code_text_hash(),
        "scenario": None if scenario is None else dict(scenario),
    }


def file_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file of any length in hexadecimal digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.cache
def version(distribution: str) -> str | None:
    """Return the version of an installed distribution; None when it is not installed.

    The field alone is read: to parse all of the metadata of a few libraries, licences included, takes as long
    as some of the simulations.
    """
    import importlib.metadata  # noqa: PLC0415 -- it loads archives and mail

    try:
        text = importlib.metadata.distribution(distribution).read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        return None
    fields = text.partition("\n\n")[0].splitlines()
    found = next((line for line in fields if line.startswith(FIELD)), None)
    return importlib.metadata.version(distribution) if found is None else found[len(FIELD) :].strip()


@functools.cache
def kernel_text_hash() -> str:
    """Return the hash of the source text of every room that holds compiled code, first 16 digits."""
    return _digest_of(KERNEL_ROOMS).hexdigest()[:16]


def code_text_hash() -> str:
    """Return the hash of the source text of everything else that makes an answer, first 16 digits.

    The numbers that predictions choose are part of it.
    """
    digest = _code_digest().copy()
    for name in NUMBERS:
        for path in sorted((models_directory() / name).glob("*.toml")):
            digest.update(f"{name}/{path.name}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _code_digest() -> hashlib._Hash:
    """Return the digest of the source text: once a process, which runs what it has read."""
    return _digest_of(("base", *OTHER_ROOMS))


def _digest_of(rooms: Collection[str]) -> hashlib._Hash:
    """Return the digest of the source text of some rooms."""
    digest = hashlib.sha256()
    for name, text in sources_read().items():
        if name.split(".")[1] in rooms:
            digest.update(f"{name}\n".encode())
            digest.update(text)
    return digest
