"""The Hardware view: shows hardware profiles and the speed-ups predicted with each."""
