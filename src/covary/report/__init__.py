"""The report: one HTML page with the results of a search, and figures of its sets."""
