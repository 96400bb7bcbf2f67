"""The public functions of the room `plan`."""

from zsim.planning.compare import compare
from zsim.planning.sweep import sweep

__all__ = ["compare", "sweep"]
