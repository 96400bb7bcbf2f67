"""What a pool has already shown: scans that are over or run, activity of its drives, benchmarks."""
