"""Other engines: what their logs say about acceptance and step times (read_log), and the nearest
shape that each of them can run, with its flags (shapes)."""
