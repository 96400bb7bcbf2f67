"""One file for each kind of top-level vdev, found automatically: each defines ``KIND``, a `VdevKind`."""
