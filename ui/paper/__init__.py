"""The Paper tab: the paper's result tables, with simulated speed-ups beside the paper's."""
