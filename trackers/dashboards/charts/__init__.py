"""What pages add to charts: `small` ones in rows, and the answers with a whole one (`pictures`)."""
