"""What leaves the house: the page, and the payload that a sink takes."""
