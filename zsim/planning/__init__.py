"""What-if questions on top of predictions: layouts side by side, sweeps over widths, fills and the like."""
