"""Weight files: their headers, missing and unused tensors, and whether all weights are finite."""
