"""Explore: type a prompt, watch it being decoded, look at any cycle."""

import tomllib
from typing import NamedTuple

import gradio as gr

from dcoco_viz.components.banner import Banner
from dcoco_viz.components.coverage import Coverage
from dcoco_viz.components.feed import Feed
from dcoco_viz.components.grid import Grid
from dcoco_viz.components.readout import Readout
from dcoco_viz.components.scrubber import Scrubber
from dcoco_viz.components.timing import Timing
from dcoco_viz.components.transcript import Transcript
from dcoco_viz.components.transitions import Transitions
from dcoco_viz.methods import METHODS
from dcoco_viz.presets import ROOT
from dcoco_viz.trace.schema import Request
from dcoco_viz.trace.store import Store

NOBODY = "nothing"
HINT = (
    "Type a prompt or choose an example, and press Run. The text will stream in here, every token marked by "
    "where it came from; below it, each cycle of drafting and verifying can be looked at, live and after."
)


class Explore(NamedTuple):
    """The parts of the tab that events read or write."""

    prompt: gr.Textbox
    method: gr.Dropdown
    compare: gr.Dropdown
    slots: gr.Number
    temperature: gr.Number
    max_tokens: gr.Number
    seed: gr.Number
    run: gr.Button
    stop: gr.Button
    upload: gr.UploadButton
    download: gr.DownloadButton
    notice: Banner
    feeds: tuple[Feed, Feed]

    @property
    def settings(self) -> list[gr.components.Component]:
        """What a run is made of, in the order in which `tabs/run.py` takes it."""
        return [
            self.prompt,
            self.method,
            self.compare,
            self.slots,
            self.temperature,
            self.max_tokens,
            self.seed,
        ]


def build(store: Store, *, live: bool) -> Explore:
    """Lay the tab out, inside a Blocks context.

    Args:
        store: where the feeds find a run by its id.
        live: whether there is an engine; without one the settings are left out.
    """
    with gr.Column(visible=live, elem_id="dv-deck"):
        controls = _deck()
    with gr.Row(elem_id="dv-files"):
        upload = gr.UploadButton("Open a trace", file_types=[".parquet"], size="sm", scale=0, min_width=130)
        download = gr.DownloadButton("Save this trace", size="sm", scale=0, min_width=130, interactive=False)
    notice = Banner(role="alert")
    with gr.Row(elem_id="dv-lanes"):
        feeds = (_lane(store, "a", HINT if live else ""), _lane(store, "b", ""))
    return Explore(*controls, upload, download, notice, feeds)


def _deck() -> tuple[gr.components.Component, ...]:
    fields = Request.model_fields
    with gr.Row(elem_id="dv-settings"):
        with gr.Column(scale=6, min_width=320):
            prompt = gr.Textbox(
                label="Prompt", placeholder="Ask something", lines=4, max_lines=8, elem_id="dv-prompt"
            )
        with gr.Column(scale=6, min_width=320):
            with gr.Row():
                method = gr.Dropdown(choices(list(METHODS)), value="dcoco", label="Method", min_width=120)
                compare = gr.Dropdown(
                    [("Nothing", NOBODY), *choices(list(METHODS))],
                    value=NOBODY,
                    label="Compare with",
                    min_width=120,
                )
            with gr.Row():
                slots = gr.Number(15, label="Slots (1 to 15)", precision=0, min_width=90)
                temperature = gr.Number(0, label="Temperature", step=0.1, min_width=90)
                max_tokens = gr.Number(
                    fields["max_tokens"].default, label="Max tokens", precision=0, min_width=90
                )
                seed = gr.Number(0, label="Seed", precision=0, min_width=90)
    with gr.Row(elem_id="dv-go"):
        run = gr.Button(
            "Loading …", variant="primary", interactive=False, scale=0, min_width=150, elem_id="dv-run"
        )
        stop = gr.Button("Stop", interactive=False, scale=0, min_width=90, elem_id="dv-stop")
        texts = _prompts()
        examples = gr.Dataset(
            components=[gr.Textbox(visible=False)],
            samples=[[text] for text in texts.values()],
            sample_labels=list(texts),
            label="Examples",
            elem_id="dv-examples",
            samples_per_page=20,
        )
    examples.click(lambda sample: sample[0], examples, prompt, queue=False, api_visibility="private")
    return prompt, method, compare, slots, temperature, max_tokens, seed, run, stop


def _lane(store: Store, lane: str, hint: str) -> Feed:
    with gr.Column(elem_classes=["dv-lane"], elem_id=f"dv-lane-{lane}"):
        feed = Feed(store, lane=lane)
        Readout(lane=lane)
        Transcript(lane=lane, hint=hint)
        Scrubber(lane=lane)
        Grid(lane=lane)
        with gr.Row(elem_classes=["dv-under"]):
            with gr.Column(scale=7, min_width=300):
                Transitions(lane=lane)
            with gr.Column(scale=5, min_width=300):
                Timing(lane=lane)
                Coverage(lane=lane)
    return feed


def choices(methods: list[str]) -> list[tuple[str, str]]:
    """(label, name) of these methods, for a Dropdown."""
    return [(METHODS[name].label, name) for name in methods]


def _prompts() -> dict[str, str]:
    """Example prompts by label, from assets/prompts.toml."""
    data = tomllib.loads((ROOT / "assets" / "prompts.toml").read_text(encoding="utf-8"))
    return {f"{prompt['group']}: {prompt['label']}": prompt["text"] for prompt in data["prompts"]}
