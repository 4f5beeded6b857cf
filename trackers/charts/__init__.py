"""Charts with axes, from plain data to SVG and PNG. Pure, but for the reader's notation."""
