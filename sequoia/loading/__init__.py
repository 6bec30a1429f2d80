"""Finds, checks, downloads, loads and tests a pair of models.

load (all of these steps), pair_request (what is asked for, and the named pairs), find_pair,
download, model_files (which files a model has), folder_check, model_checks (device, dtype, config
and weight files of one model), model_families (types that cannot run a tree, and the bundled list
of types and whether they run), read_weights, layer_drafts (drafts made of the target's own layers).
placement, offload: targets too large for one device."""
