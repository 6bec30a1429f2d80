"""What a run shows: where its time went, what to try, how sure its speed-up is, who won a
race."""
