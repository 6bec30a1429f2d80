"""What several views share: layout, labels, menus, markup, theme, uploads, saved profiles."""
