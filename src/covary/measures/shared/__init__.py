"""Parts that several measures use."""
