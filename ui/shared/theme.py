"""Fonts, sizes and colours as a Gradio theme; the rest of the look is CSS in `ui/shared/web` and
in the `web` folder of each view.

In the tree, green, red and amber mean accepted, rejected and "from the target". Elsewhere they
mostly mean good, bad and doubtful.
"""

from __future__ import annotations

import gradio as gr

from sequoia.assets_folder import ASSETS
from ui.shared import colours

FOLDER = ASSETS / "theme"
# Gradio serves both font families itself, so no network is needed. Its files for weights between
# 400 and 700 lack some letters, so only 400 and 700 are loaded. Text of weight 600 is shown in 700.
_SANS = (
    gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)),
    "ui-sans-serif",
    "system-ui",
    "sans-serif",
)
_MONO = (
    gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700)),
    "ui-monospace",
    "Consolas",
    "monospace",
)


def theme() -> gr.themes.Base:
    """The page's theme: neutral surfaces with one quiet accent colour."""
    base = gr.themes.Base(
        primary_hue=gr.themes.colors.indigo,
        secondary_hue=gr.themes.colors.slate,
        neutral_hue=gr.themes.colors.slate,
        font=_SANS,
        font_mono=_MONO,
        text_size=gr.themes.sizes.text_md,
        spacing_size=gr.themes.sizes.spacing_sm,
        radius_size=gr.themes.sizes.radius_md,
    )
    return base.set(**colours.theme_values(), **_surfaces(), **_controls())


def _surfaces() -> dict[str, str]:
    return {
        "block_border_width": "0px",
        "block_shadow": "none",
        "block_label_text_color": "*body_text_color_subdued",
        "block_title_text_color": "*body_text_color_subdued",
        "block_title_text_color_dark": "*body_text_color_subdued",
        "block_title_text_weight": "400",
        "block_info_text_size": "*text_md",
        "block_padding": "0px",
        "layout_gap": "8px",
        "form_gap_width": "0px",
    }


def _controls() -> dict[str, str]:
    return {
        "input_border_width": "1px",
        "input_padding": "4px 8px",
        "input_shadow": "none",
        "button_border_width": "1px",
        "button_secondary_text_color": "*body_text_color",
        "button_large_padding": "8px 12px",
        "button_large_text_size": "*text_md",
        "button_large_text_weight": "700",
        "button_small_padding": "4px 8px",
        "button_small_text_size": "*text_md",
        "button_small_text_weight": "400",
        "button_transition": "background 120ms ease",
    }
