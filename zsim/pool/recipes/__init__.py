"""recipes: what makes a population: pool, allocator, history, sizes of records."""
