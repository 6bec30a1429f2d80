"""Finds, checks, downloads, loads and tests a pair of models.

load (all of these steps), find_pair, download, pair_request (with the named pairs), model_checks
(name, device, dtype, config and weight files of one model), model_families (types that cannot run a
tree, and the bundled list of types and whether they run), layer_drafts (drafts made of the target's
own layers). large: targets too large for one device."""
