"""What a run shows: where its time went, what to try, how certain its speed-up is; and who won a
race."""
