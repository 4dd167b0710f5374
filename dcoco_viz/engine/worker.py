"""vLLM's worker, with this project's proposer in it and a recorder around it.

Given to vLLM as `worker_cls`; nothing of vLLM is patched. `execute_model` and `sample_tokens` are one step: the
verifier reads the proposals of the step before, accepts a prefix, and new proposals are made.
"""

import torch
from vllm.platforms import current_platform

from dcoco_viz.engine import kernels
from dcoco_viz.engine.proposer import Proposer
from dcoco_viz.engine.recorder import Proposal, Recorder, Rule, Verdict
from dcoco_viz.lattice.walk import Walk

if current_platform.is_cpu():
    from vllm.v1.worker.cpu_worker import CPUWorker as Base
else:
    from vllm.v1.worker.gpu_worker import Worker as Base

DEFAULT = Rule("none", None, False, Walk("greedy"), 0, "off")


class Worker(Base):
    """One worker of the engine process."""

    def init_device(self) -> None:
        super().init_device()
        kernels.register()
        self.recorder = Recorder()
        self.rules: dict[str, Rule] = {}
        self._first_at: dict[str, float] = {}  # request id -> clock at its first token, where cycles are recorded
        runner = self.model_runner
        runner.drafter = Proposer(self.vllm_config, self.device, runner, self.recorder, self.rules)

    def drain(self) -> bytes:
        """Finished cycles since the last call (recorder.unpack reads them)."""
        return self.recorder.drain()

    def execute_model(self, scheduler_output):
        self.recorder.forget(scheduler_output.finished_req_ids)
        for request_id in scheduler_output.finished_req_ids:
            self.rules.pop(request_id, None)
            self._first_at.pop(request_id, None)
        for new in scheduler_output.scheduled_new_reqs:
            extra = (new.sampling_params and new.sampling_params.extra_args) or {}
            self.rules[new.req_id] = Rule.unpack(extra["dcoco_viz"]) if "dcoco_viz" in extra else DEFAULT
        drafter = self.model_runner.drafter
        started = drafter.clock()
        result = super().execute_model(scheduler_output)
        state = self.model_runner.execute_model_state
        if state is None:  # nothing was scheduled
            return result
        self._executing_s = drafter.clock() - started
        drafter.proposing_s = 0.0
        submitted, scheduled = scheduler_output.scheduled_spec_decode_tokens, scheduler_output.num_scheduled_tokens
        # What a step costs is learned from those without a prefill, whose tokens are an anchor and slots a request.
        self._decodes = not scheduler_output.scheduled_new_reqs and all(
            count == 1 + len(submitted.get(request_id, ())) for request_id, count in scheduled.items()
        )
        self._tokens = scheduler_output.total_num_scheduled_tokens
        self._claimed = {
            request_id: (self.recorder.proposed.pop(request_id, None), submitted.get(request_id, []))
            for request_id in scheduled
        }
        self._verdicts = self._judge(state.logits, state.spec_decode_metadata)
        return result

    def sample_tokens(self, grammar_output):
        if self.model_runner.execute_model_state is None:
            return super().sample_tokens(grammar_output)
        drafter = self.model_runner.drafter
        started = drafter.clock()
        output = super().sample_tokens(grammar_output)
        ended = drafter.clock()
        verify_s = self._executing_s + ended - started - drafter.proposing_s
        if self._decodes:
            drafter.pace.verified(self._tokens, verify_s)
        for request_id, committed in zip(output.req_ids, output.sampled_token_ids, strict=True):
            if self.rules[request_id].level != "off" and committed:
                self._record(request_id, committed, verify_s * 1e3, ended)
        return output

    def _record(self, request_id: str, committed: list[int], verify_ms: float, at: float) -> None:
        rule = self.rules[request_id]
        request = self.model_runner.requests[request_id]
        before = len(request.output_token_ids) - len(committed)
        if before == 0:  # the prefill's own token: no cycle
            self._first_at[request_id] = at
            return
        proposal, drafted = self._claimed[request_id]
        verdict = self._verdicts.get(request_id)
        if proposal is None or not drafted:
            # A plain step; or, where the drafter had to stop, vLLM submits zeros that nobody drafted. A dense record
            # keeps what was drafted, and submits nothing of it.
            kept = proposal if rule.level == "dense" else None
            proposal, drafted, verdict = kept or Proposal(), [], None
        self.recorder.add(
            request_id=request_id,
            anchor_position=len(request.prompt_token_ids) + before - 1,
            anchor=request.output_token_ids[before - 1],
            method=rule.method,
            walk=rule.walk.name,
            submitted=len(drafted),
            drafted=drafted,
            committed=committed,
            verify_ms=verify_ms,
            at_ms=(at - self._first_at[request_id]) * 1e3,
            **{name: getattr(proposal, name) for name in proposal.__slots__},
            **(verdict._asdict() if verdict else {}),
        )

    def _judge(self, logits: torch.Tensor, metadata) -> dict[str, Verdict]:
        """The verifier's argmax at every submitted slot and one past it, and its log-probability of each draft.

        Read before sampling, which may scale the logits in place: the distribution is the one at temperature 1.
        """
        if metadata is None:
            return {}
        verdicts = {}
        end = 0
        for request_id, n in zip(self.model_runner.input_batch.req_ids, metadata.num_draft_tokens, strict=True):
            start, end = end, end + n + 1
            if n == 0 or not self.rules[request_id].keeps_arrays:
                continue
            rows = logits[start:end].float()
            drafted = torch.tensor(self._claimed[request_id][1], device=rows.device)
            logprob = rows[:n].gather(-1, drafted[:, None]).squeeze(-1) - rows[:n].logsumexp(-1)
            verdicts[request_id] = Verdict(rows.argmax(-1).int().cpu().numpy(), logprob.cpu().numpy())
        return verdicts
