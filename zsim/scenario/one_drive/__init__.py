"""one_drive: what a scenario states about a single drive: slow, sick, attached otherwise, another model."""
