"""What CI runs, for a contributor: ``nox`` (all), ``nox -s tests-3.13``, ``nox -s types docs``."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests under one version of Python."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", *session.posargs)


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that are allowed."""
    session.install("-c", "tests/lower-bounds.txt", "-e", ".[test]")
    session.run("pytest", "-q", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check types and style, and a user's script as mypy and pyright see it, from tree and wheel."""
    session.install("-e", ".[test]", "pyright", "hatchling")
    session.run("mypy")
    session.run("ruff", "check")
    session.run("pytest", "-q", "-m", "slow", "tests/scenario/test_keyword_types.py")


@nox.session
def plain(session: nox.Session) -> None:
    """Run kernels as plain Python, every index checked."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "-m", "plain", env={"NUMBA_DISABLE_JIT": "1"})


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, strictly."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", "build", "--strict")
