"""Names the settings of a model's generation_config that this program does not use."""

from __future__ import annotations

from typing import Any

from sequoia.validate_input import shown

# Fields that can change the text of `generate`, with the values that have no effect, as read by
# transformers 5.23. None, [] and {} never have one. Temperature, top-p and the number of new tokens
# are not here, because the person who runs the model chooses them. Neither are fields that matter
# only together with one of these.
NO_EFFECT = {
    "repetition_penalty": 1,
    "encoder_repetition_penalty": 1,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "bad_words_ids": None,
    "sequence_bias": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "min_length": 0,
    "min_new_tokens": 0,
    "exponential_decay_length_penalty": None,
    "guidance_scale": 1,
    "watermarking_config": None,
    "top_k": 0,
    "top_h": None,
    "min_p": 0,
    "typical_p": 1,
    "epsilon_cutoff": 0,
    "eta_cutoff": 0,
    "num_beams": 1,
    "penalty_alpha": 0,
    "dola_layers": None,
    "constraints": None,
    "force_words_ids": None,
    "token_healing": False,
    "stop_strings": None,
    "max_time": None,
}


def unused_settings(config: Any) -> list[str]:
    """The settings in a generation config that would change the text of `generate` but are not used
    here, such as "repetition_penalty = 1.1"."""
    values = {name: getattr(config, name, None) for name in NO_EFFECT}
    return [
        f"{name} = {shown(value)}"
        for name, value in values.items()
        if value not in (None, [], {}, NO_EFFECT[name])
    ]
