"""The sections of a page, one file each."""
