"""recipes: everything a population is made from: pool, allocator, history, record sizes."""
