"""Who gets events: what may be asked for, how it is saved, how each one stands."""
