"""This computer: memory, number types, clocks, and processes of their own."""
