"""The picture of a validation: predicted over observed durations, one colour per kind."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.base.units import format_duration
from zsim.prediction.answer.drawing import Picture
from zsim.validation.frame import TIME, Claim

TICKS = (1.0, 60.0, 3600.0, 86400.0, 864000.0)


def figure(claims: Sequence[Claim]) -> Picture | None:
    """Return the figure of all claims ``time`` that have both numbers; None if there are fewer than two.

    The line is observed = predicted; whiskers are p10 to p90.
    """
    shown = [claim for claim in claims if claim.claim == TIME and claim.observed and claim.predicted]
    if len(shown) < 2:
        return None
    drawn = Picture(figsize=(6.0, 5.0), layout="constrained")
    axes = drawn.subplots()
    for kind in sorted({claim.kind for claim in shown}):
        group = [claim for claim in shown if claim.kind == kind]
        observed = [claim.observed or 0.0 for claim in group]
        predicted = [claim.predicted or 0.0 for claim in group]
        below = [
            value - (c.p10 if c.p10 is not None else value) for c, value in zip(group, predicted, strict=True)
        ]
        above = [
            (c.p90 if c.p90 is not None else value) - value for c, value in zip(group, predicted, strict=True)
        ]
        axes.errorbar(
            observed, predicted, yerr=(below, above), fmt="o", markersize=4, linewidth=0.7, label=kind
        )
    values = [value for claim in shown for value in (claim.observed, claim.predicted) if value]
    ends = (min(values) / 1.5, max(values) * 1.5)
    axes.plot(ends, ends, color="grey", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="observed", ylabel="predicted")
    ticks = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, labels=[format_duration(tick) for tick in ticks])
        axis.minorticks_off()
    axes.legend(frameon=False)
    return drawn
