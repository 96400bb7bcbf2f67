"""Published figures of reliability models, compared with `zsim risk`."""
