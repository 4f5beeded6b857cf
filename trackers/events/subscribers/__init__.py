"""Subscribers: what they may ask for, how that is saved, and the state that each is in."""
