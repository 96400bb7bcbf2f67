"""tune: which tunables shorten this resilver, and what they cost clients."""
