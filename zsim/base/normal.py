"""Quantiles of the standard normal law (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5)."""

Z90 = 1.2815515655446004
"""90th percentile: p10 to p90 is twice as many standard deviations."""
Z975 = 1.959963984540054
"""97.5th percentile: half of a 95 % interval."""
