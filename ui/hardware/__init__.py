"""The Hardware view: shows hardware profiles and the fastest tree for each."""
