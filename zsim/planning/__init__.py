"""planning: questions on top of predictions: comparisons, sweeps, designs, risk, fleets, timelines."""
