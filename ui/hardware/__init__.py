"""The Hardware view: profiles of machines and the tree that each chooses."""
