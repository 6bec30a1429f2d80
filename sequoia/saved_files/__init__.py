"""What is written to files and read back: runs, races, trees in the forms of other programs."""
