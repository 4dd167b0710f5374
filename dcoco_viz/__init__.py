"""dcoco-viz: watch speculative decoding happen, live on vLLM, cycle by cycle."""

__version__ = "0.1.0"
