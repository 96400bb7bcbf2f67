"""pool_import: from the outputs of a pool's commands to a scenario."""
