"""drives: the physics of one drive and of the links it hangs on, and the catalogue of models."""
