"""Loading a pair: found, checked, downloaded, loaded, tested.

load (the whole way), find_pair, pair_catalog, model_checks (every refusal), model_families (which
types cannot run a tree), model_types (the list that ships), config_bounds, folder_check.
"""
