"""Asking a pool itself: the commands that only read, run here or by a script."""
