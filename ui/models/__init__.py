"""The Models view: which pairs there are, and loading another."""
