"""Predictions of a run's logged model on the rows of a file: `evalreport log --predict-on FILE`."""
