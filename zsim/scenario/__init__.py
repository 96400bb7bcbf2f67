"""What is asked for: the scenario, the layout grammar, the ZFS releases, and the catalogue of models."""
