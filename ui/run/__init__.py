"""The Race view: several ways to decode one prompt, side by side."""
