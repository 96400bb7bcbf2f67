"""validation: predictions compared with measurements, case by case, each claim with a tolerance."""
