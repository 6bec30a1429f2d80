"""Records what the page shows before anyone has run something: `python -m ui.record WHAT`.

runs: runs as the page makes them. opening, examples: which of many runs is kept. __main__:
the command, and the recordings of the tour and of the Lossless tab.
"""
