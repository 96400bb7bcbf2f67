"""Cases of running scans: reported statuses, sequences of scans of a pool, and runs of real OpenZFS."""
