"""Graded answers: a grade per attempt (pass, score, rating) in place of a true and a predicted label."""
