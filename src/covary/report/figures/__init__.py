"""Figures as Vega-Lite has them, one file each: plain dictionaries, made from plain numbers.

Altair checks them and makes charts of them, but does not build them: it takes 30 ms a panel, which
is seconds for a page. Names of columns are data, never names of fields, so that no name can mean
anything to Vega.
"""
