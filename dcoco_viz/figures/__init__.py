"""Numbers as Plotly figures: pure functions, metrics in, {data, layout} out. Colours are the page's CSS variables."""
