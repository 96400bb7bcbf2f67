"""miniature: a small population that represents a pool of any size."""
