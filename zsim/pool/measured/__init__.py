"""measured: what is known of a real pool: lists of its blocks, its free space."""
