"""The Lab view: tree shapes, the DP table, acceptance measured."""
