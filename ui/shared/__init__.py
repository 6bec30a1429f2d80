"""What every view uses: layout, labels, menus, markup, theme, uploads, saved profiles."""
