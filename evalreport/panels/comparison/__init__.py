"""The sections of a comparison's page, and what it says in words."""
