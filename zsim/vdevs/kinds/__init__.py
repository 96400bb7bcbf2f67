"""One file a kind of top-level vdev, found by itself: each ends in ``KIND``, an object of `VdevKind`."""
