"""Checks that only a graphics card can answer: its own kernels, graphs, streams and memory against
what they have to give.

All but those of memory and of the sanitizer also run on a CPU, where they check the same code paths
without a card's part in them.
"""
