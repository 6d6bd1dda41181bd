"""An experiment as a static site."""
