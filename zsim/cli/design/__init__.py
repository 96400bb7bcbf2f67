"""Which layout, how likely is loss, how many spares: questions of months and years."""
