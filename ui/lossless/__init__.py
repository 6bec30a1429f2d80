"""The Lossless tab: samples against the target's exact distribution, with bugs as switches."""
