"""What names and lists of devices tell of a pool's drives."""
