"""The tour: five stops that introduce tree speculative decoding, and a sixth for a run of the
visitor's own. At each stop the visitor guesses a number, and the browser computes the right one.

`tab` is the view. `lesson` reads what the tour shows: assets/lessons/tour.json, recorded runs, and
hardware profiles.
"""
