"""What every view uses: markup, theme, labels, menus, kept profiles, scripts."""
