"""Loads from files: job files of fio, and output of zpool iostat."""
