"""The tour: five stops that introduce tree speculative decoding, and a sixth for a run of the
visitor's own. At each stop the visitor answers questions, most of them with a guessed number, and
the browser computes the right answers.

`tab` is the view. `lesson` reads what the tour shows: assets/lessons/tour.json, recorded runs, and
hardware profiles.
"""
