"""A decoding step that stays on the GPU. Each file names the reference code whose results it must
reproduce."""
