"""The Experiments tab: shows recorded results of the paper's experiments and runs small versions.

tab (the view and its requests, and each visitor's finished units), experiment_job (a run in the
queue), messages (the messages to the browser), figure and tables (what they show), web
(the code that runs in the browser).
"""
