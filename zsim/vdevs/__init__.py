"""vdevs: from a block to child I/Os; one object for each kind of vdev, see `zsim.vdevs.kind`."""
