"""scenario: what is asked: fields, layout grammar, ZFS releases, and the catalogue of models."""
