"""timeline: what happens to a pool, from failures and commands until it is whole again."""
