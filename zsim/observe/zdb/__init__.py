"""zdb: readers of what zdb prints."""
