"""DCOCO: a corrector that scores transitions between neighbours' candidates (METHOD: "The corrector")."""
