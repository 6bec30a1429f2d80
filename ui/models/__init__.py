"""The Models view: the known pairs, and loading another one."""
