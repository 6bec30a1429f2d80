"""The tour: five stops that introduce tree speculative decoding, each a prediction that the browser
checks by computing.

`tab` is the view; `lesson` reads what it shows: assets/lessons/tour.json, two recorded runs, and
hardware profiles.
"""
