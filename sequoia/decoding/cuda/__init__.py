"""The same step without leaving the GPU; each file names the reference it must agree with."""
