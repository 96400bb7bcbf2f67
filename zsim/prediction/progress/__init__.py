"""progress: what worlds would show over time, and what a running scan's own progress says about its end."""
