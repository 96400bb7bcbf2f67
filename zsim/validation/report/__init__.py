"""report: scores, tables and pages about the claims."""
