"""Models from the Hugging Face hub: the files used, the download, and its process."""
