"""miniature: a pool of any size by a population of a size that can be simulated."""
