"""risk: how likely data is lost during a repair, within a year, and over several years."""
