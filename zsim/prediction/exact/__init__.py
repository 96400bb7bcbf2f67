"""exact: simulate every I/O of a pool of any size, tile by tile."""
