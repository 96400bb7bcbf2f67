"""formats: one module a form that validation cases come in."""
