"""Finds, checks, downloads, loads and tests a pair of models.

load (all of these steps), find_pair, download, pair_request, pair_catalog, model_checks (name,
device, dtype, config and weight files of one model), model_families (types that cannot run a tree),
model_types (the bundled list of types and whether they run). large: targets too large for one
device.
"""
