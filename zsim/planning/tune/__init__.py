"""tune: which knobs shorten this resilver, and at what price."""
