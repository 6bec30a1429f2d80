"""A Hugging Face causal language model that runs a token tree in one forward pass.

The model and its passes: tree_forward, cache_and_mask. Faster forwards: on a CPU packed_llama and
native, on GPUs cuda_graphs, grouped_attention. Which forward is used: choose_forward. Checks of a
model: self_test, compare_logits. What drafts: draft; without a second model: rounded_copy, ngram.
Two models with their tokenizer: pair, streamed_text, chat_format, chat_template. What a model can
do: layers. Memory: memory_needs. In words: describe.
"""
