"""The Hardware view: profiles of machines and the best tree for each."""
