"""The question that is put to the verifier: prompt, chat and sampling, shared by the views that decode."""

from typing import NamedTuple

import gradio as gr

from dcoco_viz.components.reply import Reply
from dcoco_viz.components.turns import Turns
from dcoco_viz.prompts import examples
from dcoco_viz.tabs.ask import FIELDS
from dcoco_viz.trace.schema import Request

# The view that is shown runs it: its primary button is the one that Enter presses.
ENTER = "() => document.querySelector(`#dv-panel-${document.body.dataset.view} button.primary`)?.click()"


class Deck(NamedTuple):
    """The parts that events read or write; first those that a request is made of, named as in `ask.FIELDS`."""

    prompt: gr.Textbox
    system: gr.Textbox
    history: gr.State  # list of {role, content}, the oldest first
    raw: gr.Checkbox
    temperature: gr.Number
    max_tokens: gr.Number
    seed: gr.Number
    more: gr.Accordion
    turns: Turns
    reply: Reply

    @property
    def inputs(self) -> list[gr.components.Component]:
        """What a request is made of, in the order of `ask.FIELDS`."""
        return [getattr(self, name) for name in FIELDS]


def build(*, live: bool) -> Deck:
    """Lay it out, inside a Blocks context; without an engine it is not seen."""
    with gr.Column(visible=live, elem_id="dv-deck"):
        history = gr.State([])
        turns = Turns()
        with gr.Row(elem_id="dv-settings"):
            with gr.Column(scale=7, min_width=300):
                prompt = gr.Textbox(max_lines=12, elem_id="dv-prompt", **wording(raw=False))
            with gr.Column(scale=5, min_width=300, elem_id="dv-sampling"):
                with gr.Row():
                    temperature = gr.Number(0, label="Temperature", step=0.1, min_width=80)
                    most = Request.model_fields["max_tokens"].default
                    max_tokens = gr.Number(most, label="Max tokens", precision=0, min_width=80)
                    seed = gr.Number(0, label="Seed", precision=0, min_width=80)
                with gr.Row(elem_id="dv-more"):
                    with gr.Accordion(told("", raw=False), open=False) as more:
                        system = gr.Textbox(
                            label="System prompt",
                            placeholder="None: what the chat template puts there by itself",
                            lines=2,
                            max_lines=6,
                        )
                        raw = gr.Checkbox(
                            label="Raw completion",
                            info="Complete the text as it stands, without the chat template. "
                            "System prompt and chat do not apply then.",
                        )
                    reply = Reply()
        chosen = gr.Dataset(
            components=[gr.Textbox(visible=False)],
            samples=[[example.text] for example in examples()],
            sample_labels=[f"{example.group}: {example.label}" for example in examples()],
            label="Examples",
            elem_id="dv-examples",
            samples_per_page=20,
        )
    chosen.click(lambda sample: sample[0], chosen, prompt, queue=False, api_visibility="private")
    prompt.submit(None, js=ENTER)
    return Deck(prompt, system, history, raw, temperature, max_tokens, seed, more, turns, reply)


def wording(*, raw: bool) -> dict[str, str]:
    """Label and placeholder of the prompt."""
    keys = "Enter runs it, Shift + Enter starts a new line"
    if raw:
        return {"label": "Text to complete", "placeholder": f"The text goes on from what stands here. {keys}."}
    return {"label": "Prompt", "placeholder": f"Ask something. {keys}."}


def told(system: str, *, raw: bool) -> str:
    """The label of the disclosure: what it holds, or what is set in it, so that nothing works unseen."""
    if raw:
        return "Raw completion: no chat template"
    return "A system prompt is set" if system.strip() else "System prompt, raw completion"
