"""The fake X, and servers that say what they are told to."""

from tests.x import bearer, everything_logged, fake, oauth1, peer, running_fake

__all__ = ["bearer", "everything_logged", "fake", "oauth1", "peer", "running_fake"]
