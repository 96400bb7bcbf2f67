"""Loads that files name: job files of fio, and what zpool iostat shows."""
