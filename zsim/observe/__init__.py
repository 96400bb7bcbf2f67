"""observe: readers for the output of real systems."""
