"""runs: worlds simulated on a miniature, on a tile or in windows, and scaled to the pool."""
