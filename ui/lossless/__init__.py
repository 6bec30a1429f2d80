"""The Lossless tab: compares samples of a decoder, correct or with a chosen bug, with the target's
exact distribution."""
