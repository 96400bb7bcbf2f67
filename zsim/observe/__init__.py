"""observe: readers of what real systems print and record."""
