"""The public functions of the room `plan`."""

from zsim.plan.compare import compare
from zsim.plan.sweep import sweep

__all__ = ["compare", "sweep"]
