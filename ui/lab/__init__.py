"""The Lab view: plans and compares trees, shows the DP table, and measures acceptance."""
