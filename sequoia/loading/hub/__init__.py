"""Downloads models from the Hugging Face hub: which files, the download, and its process."""
