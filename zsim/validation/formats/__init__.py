"""formats: one module for each form of validation cases."""
