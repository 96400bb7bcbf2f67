"""eta: when a running scan ends, compared with zpool's own estimate, with reasons."""
