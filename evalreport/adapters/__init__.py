"""Where predictions come from while they are made: frames, estimators, and the frameworks that train."""
