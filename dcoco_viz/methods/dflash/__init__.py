"""DFlash: one non-causal forward drafts a block from the verifier's hidden states (METHOD: "DFlash")."""
