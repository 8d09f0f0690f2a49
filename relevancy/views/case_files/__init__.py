"""Files of a case: import and export."""
