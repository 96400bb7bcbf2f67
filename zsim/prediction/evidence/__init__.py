"""evidence: weigh the possible worlds by what the pool has already shown.

The pipeline of the folder: `noise` (how far evidence of each kind scatters) > `likelihood` (how well one
value fits) > `joint` (all worlds, from the few that were run) > `posterior` (the answer of the weighted
worlds) > `comparable` (from observations to values to compare) > `shown` (what a world would have shown).
The derivation is in ``docs/explanation/evidence.md``.
"""
