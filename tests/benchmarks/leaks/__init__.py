"""One world of late posts, read by a naive cursor and by ours."""
