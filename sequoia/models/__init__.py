"""A Hugging Face causal language model that runs a token tree in one forward pass.

The model and its passes: tree_forward, kv_cache, tree_mask, attention_kernels. Faster forwards:
fast_llama, cuda_graphs (made with cuda_capture), grouped_attention. Which forward is
used: choose_forward, graph_check. Checks of a model: self_test, walk, sample_text, compare_logits,
wider, layer_list, routers. Two models with their tokenizer: pair, pair_cache, streamed_text, chat.
What a model can do: context_length, layer_configs. Speed and memory: pass_times, dtypes,
fastest_dtype, memory_needs, describe.
"""
