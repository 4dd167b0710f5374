"""A worker with a broken accept rule, to show that the sampling test can fail."""

from dcoco_viz.engine.worker import Worker

BIAS = 2.0  # added to the verifier's logit of every drafted token


class BiasedWorker(Worker):
    def init_device(self) -> None:
        super().init_device()
        sampler = self.model_runner.rejection_sampler
        honest = sampler.forward

        def favour_drafts(metadata, draft_probs, logits, sampling_metadata):
            logits[metadata.target_logits_indices, metadata.draft_token_ids.long()] += BIAS
            return honest(metadata, draft_probs, logits, sampling_metadata)

        sampler.forward = favour_drafts
