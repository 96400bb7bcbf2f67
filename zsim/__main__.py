"""Run as ``python -m zsim``."""

import sys

from zsim.cli.main import main

sys.exit(main())
