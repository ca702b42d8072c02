"""Figures of a search result: computed as Vega-Lite data, and as Altair charts."""
