"""Reads weight files, and checks their headers, missing and unused tensors, and that all weights
are finite."""
