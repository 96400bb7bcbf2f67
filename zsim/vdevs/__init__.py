"""vdevs: block to child I/Os, for RAID-Z, mirror and dRAID."""
