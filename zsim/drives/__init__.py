"""drives: the physics of one drive and of the links in front of it, and the catalogue of models."""
