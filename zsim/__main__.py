"""Run as ``python -m zsim``."""

from zsim.cli.main import main

main()
