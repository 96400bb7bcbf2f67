"""one_vdev: how likely one vdev is lost, by a Markov chain or event by event."""
