"""Published figures of reliability models, and what `zsim risk` makes of them."""
