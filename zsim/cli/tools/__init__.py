"""Commands about what predictions are based on: drives, pool, replay, validate, schema, warmup."""
