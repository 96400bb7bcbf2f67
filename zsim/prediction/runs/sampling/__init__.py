"""A run of a part of the I/Os that stands for the whole: its windows, its rounds, what they are fed with."""
