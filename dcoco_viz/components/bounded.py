"""A slider that takes what is typed into its box as the nearest number that it offers."""

import gradio as gr


class Bounded(gr.Slider):
    """Gradio's slider, for whole numbers; an empty box means the largest."""

    is_template = True  # in the browser it is Gradio's own

    def preprocess(self, payload: float | None) -> int:
        return round(min(max(self.maximum if payload is None else payload, self.minimum), self.maximum))
