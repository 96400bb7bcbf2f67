"""report: scores, tables and pages made of the claims."""
