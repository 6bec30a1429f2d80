"""The Paper tab: the paper's result tables beside what a simulated clock gives for them."""
