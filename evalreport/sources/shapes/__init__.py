"""The shapes that predictions come in, from names of columns to labels, scores and what goes with them."""
