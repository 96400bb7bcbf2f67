"""one_drive: what a scenario says of one drive alone: slow, sick, attached otherwise, of another model."""
