"""All English about results: verdicts, where the time went, plans, losslessness, measurements.

The engine (`sequoia`) returns numbers and codes. These modules make the sentences, just before they
are sent to the page. A sentence does not say where its numbers come from: that is a field, the
label, which the page shows beside them.

A sentence belongs here if it says what a result is or means; labels of controls, refusals of a
field, and what a job is doing stay where they arise.
"""
