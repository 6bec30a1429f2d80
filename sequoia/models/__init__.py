"""A Hugging Face causal language model that runs a token tree in one forward pass.

tree_forward (the model), kv_cache, tree_mask, per_tree, fast_llama, cuda_graphs (faster forwards),
choose_forward, graph_check, compare_logits (which of them is used);
pair, pair_cache, streamed_text (two models and their tokenizer); self_test, context_length,
layer_configs (what a model can do); pass_times, dtypes, fastest_dtype, memory_needs, describe.
"""
