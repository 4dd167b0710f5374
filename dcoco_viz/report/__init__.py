"""Runs as one HTML file that needs nothing else: the page's own views, and the data they ask for, inside it."""
