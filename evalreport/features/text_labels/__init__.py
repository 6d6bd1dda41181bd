"""Labels read from generated text."""
