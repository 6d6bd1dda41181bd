"""The sections of the page as values: what each shows, and in which words."""
