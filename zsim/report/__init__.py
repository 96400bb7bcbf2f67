"""report: tables, plots and single-file HTML pages of results."""
