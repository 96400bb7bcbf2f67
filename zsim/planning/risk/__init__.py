"""How likely data is lost while a pool is repaired, within a year, and within many."""
