"""disksim: drives with full track geometry, as DiskSim describes them."""
