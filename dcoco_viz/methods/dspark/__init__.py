"""DSpark: a low-rank Markov bias from the previous token, and a confidence head (METHOD: "Baselines")."""
