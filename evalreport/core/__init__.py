"""What everything uses: errors, number formatting, safe text, JSON, lazy fields, progress, result values."""
