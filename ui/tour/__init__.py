"""The tour: six stops that introduce tree speculative decoding, and a seventh for a run of the
visitor's own. At each stop the visitor guesses the answers to questions.

`tab` is the view. It reads what the tour shows: assets/lessons/tour.json, recorded runs, and
hardware profiles.
"""
