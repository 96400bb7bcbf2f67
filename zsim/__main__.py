"""Run as ``python -m zsim``."""

from zsim.cli.main import process

process()
