"""From a request to the token ids that the verifier reads first."""

from typing import Any

from transformers import PreTrainedTokenizerBase

from dcoco_viz.trace.schema import Request


def read(request: Request, tokenizer: PreTrainedTokenizerBase, vocabulary: int, template: dict[str, Any]) -> list[int]:
    """The templated chat, or the prompt as it stands where it is raw, then the answer that has begun.

    Args:
        vocabulary: how many token ids there are.
        template: arguments of the chat template.

    Raises:
        ValueError: a request that cannot be read, in one sentence.
    """
    if not request.prompt.strip():
        raise ValueError("the prompt is empty: type something to decode")
    if beyond := [token for token in request.continued if token >= vocabulary]:
        raise ValueError(
            f"the answer to go on with holds token {beyond[0]}, but this vocabulary ends with token {vocabulary - 1}"
        )
    if request.raw:
        if request.system or request.history:
            raise ValueError(
                "a raw prompt is completed as it stands: leave out the system prompt and the earlier messages"
            )
        return [*tokenizer.encode(request.prompt), *request.continued]
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += [turn.model_dump() for turn in request.history]
    messages.append({"role": "user", "content": request.prompt})
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False, **template)
    return [*ids, *request.continued]
