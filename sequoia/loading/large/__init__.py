"""Targets too large for one device: spread over several, or streamed layer by layer."""
