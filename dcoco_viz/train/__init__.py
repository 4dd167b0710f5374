"""Training a drafter and its corrector for one verifier, and measuring them on held-out text."""
