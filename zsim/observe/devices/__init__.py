"""What names and lists of devices say about the drives of a pool."""
