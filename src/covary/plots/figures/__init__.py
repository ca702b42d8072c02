"""Figures as Vega-Lite data, one file per figure: dictionaries built from plain numbers.

Altair only checks and shows them. Building them with Altair takes 30 ms per panel, which is
seconds for a report. Names of columns are data, never names of fields: Vega cannot interpret them.
"""
