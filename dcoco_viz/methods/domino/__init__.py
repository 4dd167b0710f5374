"""Domino: a causal GRU over the chosen prefix and a low-rank correction of the logits (arXiv:2605.29707)."""
