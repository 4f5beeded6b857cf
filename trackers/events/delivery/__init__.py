"""Batches on their way out: claimed, sent, settled."""
