"""The recorded run that the page opens with."""
