"""drives: measurements of a drive, and a model fitted to them."""
