"""vdevs: block to child I/Os; one object a kind, see `zsim.vdevs.kind`."""
