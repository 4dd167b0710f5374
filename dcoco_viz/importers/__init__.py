"""DFlash drafters of other people, brought into the layout that this program drafts with.

    source (folder or hub id) → layouts (what its config.json says) → tensors (what its weights are) → convert (written)

Whatever does not fit is named before a weight is read, and nothing is written then.
"""


class Refused(ValueError):
    """A drafter cannot be imported.

    Attributes:
        sentences: one plain sentence for each reason.
    """

    def __init__(self, sentences: list[str]):
        super().__init__("\n".join(sentences))
        self.sentences = sentences
