"""Labels, scores and predictions, validated."""
