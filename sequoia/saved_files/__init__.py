"""What is written to files and read back: races, trees in the forms of other programs."""
