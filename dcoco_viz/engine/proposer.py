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

from dcoco_viz.engine.ending import Drafted, end
from dcoco_viz.engine.pace import Pace
from dcoco_viz.engine.recorder import Proposal, Recorder, Rule
from dcoco_viz.lattice.pool import top_k
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.checkpoint import load_acceptance, load_head
from dcoco_viz.methods.heads import Decided, decide


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
        self.heads: dict[str, torch.nn.Module] = {}
        self.acceptance: dict[str, torch.Tensor] = {}  # method -> weights of lattice/confidence.py
        self.pace = Pace()
        self.proposing_s = 0.0  # wall time of the last `propose`, recording included
        self._drafter = ""  # name of the drafter of the pass under way
        self._rows: list[int] = []  # batch rows that the pass under way drafts for
        self._lengths: list[int] = []  # for each of them, how many slots are submitted
        self._batch: list[tuple[str, Rule]] = []
        self._recording_s = 0.0

    # Loading

    def load_model(self, target_model: torch.nn.Module) -> None:
        """Load the first drafter as vLLM does, the others beside it, and the heads there are."""
        first, *others = self.paths
        super().load_model(target_model)
        self.models[first] = self.model
        for name in others:
            self.models[name] = self._load_sibling(name, self.models[first], target_model)
        self.model = self.models[first]
        for name, path in self.paths.items():
            if (head := load_head(path)) is not None:
                self.heads[name] = head.to(self.device, self.dtype).eval().requires_grad_(False)
            self.acceptance |= load_acceptance(path)

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

    def propose(self, **inputs) -> list[list[int]]:
        """Draft for the whole batch.

        Returns a ragged list, one row a request: the first token ids of its path, at most `slots`, or nothing for a
        request that does not speculate, is still in its prefill, or keeps its blocks for a dense record.
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
            if all(self._batch[row][1].walk.auto for row in self._rows) and self.pace.rests(name):
                self._keep_context(inputs)
                for row in self._rows:
                    self.recorder.proposed.pop(self._batch[row][0], None)
                continue
            paths = super().propose(**inputs).tolist()
            draft_ms = (self.clock() - pass_started - self._recording_s) * 1e3
            if not discarded[self._rows].any():
                self.pace.drafted(name, len(self._rows), draft_ms / 1e3)
            for row, path, length in zip(self._rows, paths, self._lengths, strict=True):
                request_id, rule = self._batch[row]
                if discarded[row]:
                    self.recorder.proposed.pop(request_id, None)
                    continue
                drafts[row] = path[:length]
                if proposal := self.recorder.proposed.get(request_id):
                    proposal.draft_ms = draft_ms
        self.proposing_s = self.clock() - started
        return drafts

    def _keep_context(self, inputs: dict) -> None:
        """Write the keys and values that later blocks attend to, as a pass does, and draft nothing."""
        states = self.model.combine_hidden_states(inputs["target_hidden_states"])
        names = ("target_token_ids", "next_token_ids", "target_positions", "token_indices_to_sample")
        self.set_inputs_first_pass(
            **{name: inputs[name] for name in names},
            target_hidden_states=states,
            cad=inputs["common_attn_metadata"],
            num_rejected_tokens_gpu=inputs["num_rejected_tokens_gpu"],
        )
        count = len(states)
        self.model.precompute_and_store_context_kv(
            states, self._context_positions_buffer[:count], self._context_slot_mapping_buffer[:count]
        )

    def _worth(self, survival: torch.Tensor) -> list[int]:
        """Slots that are worth submitting of the rows [R, B] of this pass that leave it to the moment."""
        others = [rule for _, rule in self._batch if not (rule.drafter == self._drafter and rule.walk.auto)]
        tokens = sum(1 + rule.slots if rule.drafter and not rule.walk.auto else 1 for rule in others)
        return self.pace.choose(self._drafter, survival, len(others), tokens)

    def set_inputs_first_pass(self, *args, **kwargs):
        """As DFlash, but hand on the anchors' outputs too, and write no keys and values for another drafter's rows."""
        cad = kwargs["cad"]
        count, _, new_cad = super().set_inputs_first_pass(*args, **kwargs)
        width = 1 + self.num_speculative_tokens
        if len(self._rows) < len(self._batch):
            starts = cad.query_start_loc_cpu.tolist()
            for row in set(range(len(self._batch))) - set(self._rows):
                self._context_slot_mapping_buffer[starts[row] : starts[row + 1]] = PADDING_SLOT_ID
                self._slot_mapping_buffer[row * width : (row + 1) * width] = PADDING_SLOT_ID
        # vLLM would sample the slots' rows alone; a head may read the anchor's (METHOD's h_0).
        return count, torch.arange(len(self._batch) * width, device=self.device), new_cad

    def _sample_draft_tokens(self, hidden_states, sampling_metadata):
        """Choose a path for every row of this pass.

        Args:
            hidden_states: [rows of the batch x (1 + B), d], request-major, the anchor's row first.

        Returns:
            ([rows of this pass x B] token ids, None): no draft probabilities, so vLLM's rejection sampler applies
            the point-mass rule (METHOD: "Lossless").
        """
        hidden = hidden_states.view(len(self._batch), 1 + self.num_speculative_tokens, -1)
        if len(self._rows) < len(self._batch):
            hidden = hidden[self._rows]
        logits = self.model.compute_logits(hidden[:, 1:].flatten(0, 1)).unflatten(0, (len(hidden), -1))
        rules = [self._batch[row][1] for row in self._rows]
        headed = [i for i, rule in enumerate(rules) if rule.head]
        started = self.clock()
        paths, block, decided = logits.argmax(-1), None, None  # without a head every walk takes the best draft logit
        if headed:
            block, decided = self._decide(headed, [rules[i] for i in headed], hidden, logits)
            paths[headed] = block.ids.gather(-1, decided.ranks.unsqueeze(-1)).squeeze(-1)
        drafted = Drafted(rules, logits, paths, headed, block, decided)
        self._lengths, lognorms = end(drafted, self.acceptance, self._worth)
        head_ms = (self.clock() - started) * 1e3
        started = self.clock()
        for i, rule in enumerate(rules):
            if rule.level != "off":
                proposal = Proposal(head_ms=head_ms)
                if rule.keeps_arrays:
                    j = headed.index(i) if rule.head else None
                    walked = None if j is None else (block.ids[j], *(_row(part, j) for part in decided))
                    self._fill(proposal, logits[i], lognorms.get(i), walked)
                self.recorder.proposed[self._batch[self._rows[i]][0]] = proposal
        self._recording_s += self.clock() - started
        return paths.flatten(), None

    def _decide(self, headed: list[int], rules: list[Rule], hidden, logits) -> tuple[Block, Decided]:
        """What the head that belongs to the drafter of this pass makes of the rows `headed` of hidden and logits."""
        width = 1 + self.num_speculative_tokens
        anchors = self.input_ids[: len(self._batch) * width : width][[self._rows[i] for i in headed]]
        pool = top_k(logits[headed], self.top_k, normalise=False)
        block = Block(hidden[headed], anchors.long(), pool.ids, pool.logits, self._embed)
        return block, decide(self.heads[self._drafter], block, [rule.walk for rule in rules])

    def _embed(self, ids: torch.Tensor) -> torch.Tensor:
        """The verifier's embeddings [..., d] of tokens [...]."""
        return self.model.embed_input_ids(ids.flatten()).unflatten(0, ids.shape)

    def _fill(self, proposal: Proposal, logits: torch.Tensor, lognorm: torch.Tensor | None, walked) -> None:
        """Copy what a full record holds.

        Args:
            logits: [B, V].
            lognorm: [B], or None where the walk did not need it.
            walked: ids [B, K], ranks [B], and, or None, scores [B-1, K, K], corrected [B, K], confidence [B], where a
                head ran, whose own candidates are kept, so that ranks and scores mean what they meant to it; else None.
        """
        if walked is None:
            ids = top_k(logits, self.top_k, normalise=False).ids
            ranks = torch.zeros(len(logits), dtype=torch.int16)
        else:
            ids, ranks, scores, corrected, confidence = walked
            proposal.scores = None if scores is None else scores.half().cpu().numpy()
            proposal.corrected = None if corrected is None else corrected.float().cpu().numpy()
            proposal.confidence = None if confidence is None else confidence.float().cpu().numpy()
        lognorm = logits.float().logsumexp(-1) if lognorm is None else lognorm
        proposal.candidates = ids.int().cpu().numpy()
        proposal.logits = logits.gather(-1, ids).float().cpu().numpy()
        proposal.lognorm = lognorm.cpu().numpy()
        proposal.ranks = ranks.short().cpu().numpy()

    def clock(self) -> float:
        """Seconds; on a GPU only after the work queued so far is done, since a launch is not the work."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()


def _row(part: torch.Tensor | None, row: int) -> torch.Tensor | None:
    return None if part is None else part[row]
