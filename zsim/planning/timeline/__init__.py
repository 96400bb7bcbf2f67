"""The timeline: the story of a pool, from failures and orders to the moment when it is whole again."""
