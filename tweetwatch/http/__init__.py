"""HTTP around the views: what is refused before them, sent after them, and said when they fail."""
