"""pool: the population of blocks: allocator, history, metadata, import of what is known of a real pool."""
