"""simulator: run a history in compiled code: writes, frees, metaslabs, transaction groups."""
