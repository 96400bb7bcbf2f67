"""releases: what each ZFS release does, and the value of every tunable that matters."""
