"""Pictures of every page for README and docs: `make screenshots`."""
