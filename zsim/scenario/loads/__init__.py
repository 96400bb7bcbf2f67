"""Loads as they come: in words, as a job file of fio, as zpool iostat shows them."""
