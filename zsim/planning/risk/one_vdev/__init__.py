"""one_vdev: how likely one vdev is lost, by a Markov chain or by simulation."""
