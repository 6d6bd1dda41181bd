"""The documentation: its text, and what is made of the code at build."""
