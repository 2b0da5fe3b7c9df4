"""What a front end's panel hears and may ask for, over a comm: docs/comm.md says it in words,
share/comm/v1.schema.json in full."""
