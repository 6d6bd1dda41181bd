"""Random tables and changed documents: nothing but the errors of evalreport comes of them."""
