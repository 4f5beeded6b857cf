"""Charts that the server draws: `small` ones in rows, and `line_chart` with axes, SVG and PNG."""
