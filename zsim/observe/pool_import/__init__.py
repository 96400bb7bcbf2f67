"""pool_import: make a scenario from the output of a pool's commands."""
