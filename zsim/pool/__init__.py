"""pool: the population of blocks: allocator, history, metadata; facts about a real pool."""
