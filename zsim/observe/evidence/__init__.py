"""What a pool has already shown: finished and running scans, activity of its drives, benchmarks."""
