"""The bundled files; see ATTRIBUTION.md for their sources and licence."""
