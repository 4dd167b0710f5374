"""Every token's piece (trace/pieces.py), from a byte-level BPE tokenizer, which all presets have."""

from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from dcoco_viz.trace.pieces import from_bytes


def pieces(tokenizer: PreTrainedTokenizerBase, size: int) -> list[str]:
    """The piece of every id below `size`; ids the tokenizer does not know are empty."""
    byte_of = {char: byte for byte, char in bytes_to_unicode().items()}
    added = {index: token.content for index, token in tokenizer.added_tokens_decoder.items()}
    table = []
    for index, token in enumerate(tokenizer.convert_ids_to_tokens(range(min(size, len(tokenizer))))):
        if index in added or token is None:
            table.append(added.get(index, ""))
        else:
            table.append(from_bytes(bytes(byte_of[char] for char in token)))
    return table + [""] * (size - len(table))
