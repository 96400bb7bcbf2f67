"""zpool: readers of what zpool prints."""
