"""Fonts and colours as a Gradio theme; the rest of the look is CSS in `ui/shared/web` and
in the `web` folder of each view. Knows no components.

Green, red and amber mean accepted, rejected and "from the target" in the tree, so nothing else
uses them.
"""

from __future__ import annotations

import gradio as gr

from sequoia.assets_folder import ASSETS

FOLDER = ASSETS / "theme"
# Gradio serves both families itself, so no network is needed. Its files of the weights between 400
# and 700 contain only some letters, so a weight of 600 has to come from the bold files.
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
    """Neutral surfaces, one quiet accent."""
    base = gr.themes.Base(
        primary_hue=gr.themes.colors.indigo,
        secondary_hue=gr.themes.colors.slate,
        neutral_hue=gr.themes.colors.slate,
        font=_SANS,
        font_mono=_MONO,
        text_size=gr.themes.sizes.text_sm,
        spacing_size=gr.themes.sizes.spacing_sm,
        radius_size=gr.themes.sizes.radius_md,
    )
    return base.set(**_surfaces(), **_controls())


def _surfaces() -> dict[str, str]:
    return {
        "body_background_fill": "#f6f7f9",
        "body_background_fill_dark": "#0e1116",
        "background_fill_primary": "#ffffff",
        "background_fill_primary_dark": "#161a21",
        "background_fill_secondary": "#f1f3f6",
        "background_fill_secondary_dark": "#1c212a",
        "border_color_primary": "#dfe3e9",
        "border_color_primary_dark": "#2b323d",
        "body_text_color": "#1c2330",
        "body_text_color_dark": "#e4e8ef",
        "body_text_color_subdued": "#5b6577",
        "body_text_color_subdued_dark": "#98a2b3",
        "block_background_fill": "#ffffff",
        "block_background_fill_dark": "#161a21",
        "block_border_width": "0px",
        "block_shadow": "none",
        "block_label_text_color": "*body_text_color_subdued",
        "block_title_text_color": "*body_text_color_subdued",
        "block_title_text_color_dark": "*body_text_color_subdued",
        "block_title_text_weight": "500",
        "block_title_text_size": "12px",
        "block_padding": "0px",
        "layout_gap": "10px",
        "form_gap_width": "0px",
    }


def _controls() -> dict[str, str]:
    return {
        "input_background_fill": "#ffffff",
        "input_background_fill_dark": "#10141a",
        "input_border_width": "1px",
        "input_border_color": "#d3d9e2",
        "input_border_color_dark": "#323a47",
        "input_padding": "6px 9px",
        "input_border_color_focus": "#4f5fd1",
        "input_border_color_focus_dark": "#8b98ff",
        "input_shadow": "none",
        "button_primary_background_fill": "#3f4fc4",
        "button_primary_background_fill_hover": "#3443b0",
        "button_primary_background_fill_dark": "#5563dd",
        "button_primary_background_fill_hover_dark": "#6674ec",
        "button_primary_text_color": "#ffffff",
        "button_secondary_background_fill": "#ffffff",
        "button_secondary_background_fill_dark": "#1f2530",
        "button_secondary_background_fill_hover": "#eef1f5",
        "button_secondary_background_fill_hover_dark": "#29303c",
        "button_secondary_border_color": "#d3d9e2",
        "button_secondary_border_color_dark": "#353e4c",
        "button_border_width": "1px",
        "button_secondary_text_color": "*body_text_color",
        "button_large_padding": "7px 12px",
        "button_large_text_size": "14px",
        "button_large_text_weight": "600",
        "button_small_padding": "4px 9px",
        "button_small_text_size": "12px",
        "button_small_text_weight": "500",
        "button_transition": "background 120ms ease",
    }
