"""measured: facts about a real pool: lists of its blocks, its free space."""
