"""Internal helpers: errors, files, worker processes, text layout."""
