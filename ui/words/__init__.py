"""All English about results: verdicts, where the time went, plans, losslessness, machines.

The engine (`sequoia`) returns numbers and codes. These modules make the sentences, just before they
are sent to the page. A sentence does not say where its numbers come from: that is a field, the
label, which the page shows beside them.
"""
