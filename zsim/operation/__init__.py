"""operation: one resilver, scrub or rebuild from its first txg to its last."""
