"""field_reports: resilvers that other people reported, each made a scenario by rule."""
