"""One small module per file format; each turns bytes into named arrays and trusts nothing in them."""
