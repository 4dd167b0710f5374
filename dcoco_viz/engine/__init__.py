"""The only room that imports vLLM: launch, session (front end); worker, proposer, recorder (engine process)."""

from dcoco_viz.engine import preload

preload.apply()  # before anything here imports vLLM, which reads the environment once
