"""sampling: a run of a part of the I/Os that represents the whole: its windows and its rounds."""
