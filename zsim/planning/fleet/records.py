"""Parts of the answer about a fleet."""

from __future__ import annotations

from pydantic import Field

from zsim.planning.risk.records import Chance
from zsim.prediction.answer.records import AnswerPart


class Losses(AnswerPart):
    """Numbers by how much is lost; each grade includes the ones after it."""

    files: Chance
    vdev: Chance
    pool: Chance


class PoolsRow(AnswerPart):
    """Pools of one kind."""

    name: str
    layout: str
    pools: int
    failures_per_year: float = Field(description="of drives, all these pools together")
    hours_s: float = Field(description="mean duration of a repair [s]")
    missing_s: float = Field(description="mean time from a failure to the end of its repair [s]")
    degraded_s: tuple[float, ...] = Field(description="time a pool and year with 1, 2, 3, more missing [s]")
    losses_per_year: Losses = Field(description="expected, all these pools together")
    share: float = Field(description="of the fleet's suspended vdevs")
    table_error: float = Field(description="relative distance of the table of hours from the simulator")


class Stock(AnswerPart):
    """How many spares or crews it takes."""

    have: int | None = Field(description="None: always enough")
    waited: float = Field(description="share of the failures that waited")
    mean_wait_s: float = Field(description="mean wait of all failures [s]")
    enough: dict[str, int] = Field(description="how many are enough for this share of the failures")
