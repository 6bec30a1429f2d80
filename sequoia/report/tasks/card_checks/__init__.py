"""Checks that need a graphics card: its kernels, graphs, streams and memory are compared with what
they should give.

All but the checks of memory and with the sanitizer also run on a CPU, where they take the same code
paths without the card.
"""
