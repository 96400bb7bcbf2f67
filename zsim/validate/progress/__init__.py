"""Cases of running scans: statuses that people printed while one ran, sequences of scans, real OpenZFS runs."""
