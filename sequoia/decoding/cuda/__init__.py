"""The same step without leaving the card; each file names the plain form it must agree with."""
