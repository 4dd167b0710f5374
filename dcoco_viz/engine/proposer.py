"""Draft a block for every request of the batch, each by its own rule.

All drafters of a preset stay loaded. They share the KV cache layers of the first one: a request belongs to one
drafter for life, its cache slots are its own, and in a mixed batch each drafter's pass leaves the others' rows alone.
"""

import copy
import time

import torch
from vllm.model_executor.model_loader import get_model
from vllm.model_executor.model_loader.utils import get_draft_load_config
from vllm.v1.spec_decode.dflash import DFlashProposer
from vllm.v1.spec_decode.utils import PADDING_SLOT_ID

from dcoco_viz.engine.recorder import Proposal, Recorder, Rule
from dcoco_viz.lattice.pool import Pool, top_k
from dcoco_viz.lattice.walk import greedy
from dcoco_viz.methods.checkpoint import load_corrector
from dcoco_viz.methods.dcoco.model import Corrector


class Proposer(DFlashProposer):
    """DFlash's proposer, with a method, a walk and a number of slots per request."""

    def __init__(self, vllm_config, device, runner, recorder: Recorder, rules: dict[str, Rule]):
        super().__init__(vllm_config, device, runner)
        self.runner = runner
        self.recorder = recorder
        self.rules = rules  # request id -> rule, kept by the worker
        self.paths: dict[str, str] = vllm_config.additional_config["dcoco_viz"]["drafters"]
        self.top_k: int = vllm_config.additional_config["dcoco_viz"]["top_k"]
        self.models: dict[str, torch.nn.Module] = {}
        self.heads: dict[str, Corrector] = {}
        self.proposing_s = 0.0  # wall time of the last `propose`, recording included
        self._drafter = ""  # name of the drafter of the pass under way
        self._rows: list[int] = []  # batch rows that the pass under way drafts for
        self._batch: list[tuple[str, Rule]] = []
        self._recording_s = 0.0

    # Loading

    def load_model(self, target_model: torch.nn.Module) -> None:
        """Load the first drafter as vLLM does, the others beside it, and the correctors there are."""
        first, *others = self.paths
        super().load_model(target_model)
        self.models[first] = self.model
        for name in others:
            self.models[name] = self._load_sibling(name, self.models[first], target_model)
        self.model = self.models[first]
        for name, path in self.paths.items():
            if head := load_corrector(path):
                self.heads[name] = head.to(self.device, self.dtype).eval().requires_grad_(False)

    def _load_sibling(self, name: str, first: torch.nn.Module, target_model: torch.nn.Module) -> torch.nn.Module:
        """Load another drafter of the same shape onto the attention layers, and so the KV cache, of the first."""
        context = self.vllm_config.compilation_config.static_forward_context
        shared = {layer: context.pop(layer) for layer in self._draft_attn_layer_names}
        config = copy.copy(self.draft_model_config)
        config.model = self.paths[name]
        draft_config = self._create_draft_vllm_config()
        self.model = get_model(
            vllm_config=draft_config, model_config=config, load_config=get_draft_load_config(draft_config)
        )
        context.update(shared)
        for mine, theirs in zip(self.model.model.layers, first.model.layers, strict=True):
            mine.self_attn.attn = theirs.self_attn.attn
        self.model.model._attn_layers = first.model._attn_layers
        self._maybe_share_embeddings(target_model)
        self._maybe_share_lm_head(target_model)
        return self.model

    # Drafting

    def propose(self, *args, **kwargs) -> list[list[int]]:
        """Draft for the whole batch.

        Returns a ragged list, one row a request: the first `slots` token ids of its path, or nothing for a request
        that does not speculate or is still in its prefill.
        """
        started = self.clock()
        ids = self.runner.input_batch.req_ids
        self._batch = [(request_id, self.rules[request_id]) for request_id in ids]
        discarded = self.runner.discard_request_mask.np[: len(ids)]
        drafts: list[list[int]] = [[] for _ in ids]
        for name in dict.fromkeys(rule.drafter for _, rule in self._batch if rule.drafter):
            pass_started = self.clock()
            self._recording_s = 0.0
            self._drafter, self.model = name, self.models[name]
            self._rows = [row for row, (_, rule) in enumerate(self._batch) if rule.drafter == name]
            paths = super().propose(*args, **kwargs).tolist()
            draft_ms = (self.clock() - pass_started - self._recording_s) * 1e3
            for row, path in zip(self._rows, paths, strict=True):
                request_id, rule = self._batch[row]
                if discarded[row]:
                    self.recorder.proposed.pop(request_id, None)
                    continue
                drafts[row] = path[: rule.slots]
                if proposal := self.recorder.proposed.get(request_id):
                    proposal.draft_ms = draft_ms
        self.proposing_s = self.clock() - started
        return drafts

    def set_inputs_first_pass(self, *args, **kwargs):
        """As DFlash, but write no keys and values for rows that belong to another drafter."""
        cad = kwargs["cad"]
        result = super().set_inputs_first_pass(*args, **kwargs)
        if len(self._rows) < len(self._batch):
            width = 1 + self.num_speculative_tokens
            starts = cad.query_start_loc_cpu.tolist()
            for row in set(range(len(self._batch))) - set(self._rows):
                self._context_slot_mapping_buffer[starts[row] : starts[row + 1]] = PADDING_SLOT_ID
                self._slot_mapping_buffer[row * width : (row + 1) * width] = PADDING_SLOT_ID
        return result

    def _sample_draft_tokens(self, hidden_states, sampling_metadata):
        """Choose a path for every row of this pass.

        Args:
            hidden_states: [rows of the batch x B, d], request-major; the anchor's row is not among them.

        Returns:
            ([rows of this pass x B] token ids, None): no draft probabilities, so vLLM's rejection sampler applies
            the point-mass rule (METHOD: "Lossless").
        """
        hidden = hidden_states.view(len(self._batch), self.num_speculative_tokens, -1)
        if len(self._rows) < len(self._batch):
            hidden = hidden[self._rows]
        logits = self.model.compute_logits(hidden.flatten(0, 1)).view(*hidden.shape[:2], -1)
        rules = [self._batch[row][1] for row in self._rows]
        headed = [i for i, rule in enumerate(rules) if rule.head]
        started = self.clock()
        pool = scores = ranks = None
        if headed:
            pool = top_k(logits[headed], self.top_k, normalise=False)
            scores = self._score(hidden[headed], pool)
            ranks = greedy(pool.logits[:, 0], scores)
            paths = logits.new_zeros(logits.shape[:2], dtype=torch.int64)
            paths[headed] = pool.ids.gather(-1, ranks.unsqueeze(-1)).squeeze(-1)
            plain = [i for i, rule in enumerate(rules) if not rule.head]
            if plain:
                paths[plain] = logits[plain].argmax(-1)
        else:
            paths = logits.argmax(-1)
        head_ms = (self.clock() - started) * 1e3
        started = self.clock()
        for i, rule in enumerate(rules):
            if rule.level != "off":
                proposal = Proposal(head_ms=head_ms)
                if rule.level == "full":
                    j = headed.index(i) if rule.head else None
                    self._fill(proposal, logits[i], None if j is None else (pool.ids[j], scores[j], ranks[j]))
                self.recorder.proposed[self._batch[self._rows[i]][0]] = proposal
        self._recording_s += self.clock() - started
        return paths.flatten(), None

    def _score(self, hidden: torch.Tensor, pool: Pool) -> torch.Tensor:
        """Transition scores [R, B-1, K, K] of the corrector that belongs to the drafter of this pass."""
        head = self.heads[self._drafter]
        embeddings = self.model.embed_input_ids(pool.ids.flatten()).view(*pool.ids.shape, -1)
        return head(hidden, embeddings, pool.logits)

    def _fill(self, proposal: Proposal, logits: torch.Tensor, headed) -> None:
        """Copy what a full record holds: logits [B, V]; headed = (ids [B, K], scores [B-1, K, K], ranks [B]) or None.

        Where the head ran its own candidates are kept, so that ranks and scores mean what they meant to the walk.
        """
        if headed is None:
            ids = top_k(logits, self.top_k, normalise=False).ids
            ranks = torch.zeros(len(logits), dtype=torch.int16)
        else:
            ids, scores, ranks = headed
            proposal.scores = scores.half().cpu().numpy()
        proposal.candidates = ids.int().cpu().numpy()
        proposal.logits = logits.gather(-1, ids).float().cpu().numpy()
        proposal.lognorm = logits.float().logsumexp(-1).cpu().numpy()
        proposal.ranks = ranks.short().cpu().numpy()

    def clock(self) -> float:
        """Seconds; on a GPU only after the work queued so far is done, since a launch is not the work."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()
