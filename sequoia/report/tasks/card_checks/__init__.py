"""Checks for a graphics card: results of its kernels, graphs, streams and memory are compared with
the expected results.

All checks except memory.py and sanitizer.py also run on a CPU, so that their code can be tested
without a card.
"""
