"""The pairwise selector of DFlash2: unary and bilinear scores from two token codebooks (METHOD: "Baselines")."""
