"""Targets larger than one device: spread over several, or streamed layer by layer."""
