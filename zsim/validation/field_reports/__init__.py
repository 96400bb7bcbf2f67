"""field_reports: resilvers that other people reported, and the scenario of each by rule."""
