"""Every drafting head: against a plain, slow formulation, at its start, in what it learns, and on the disk."""

import pytest
import torch
import torch.nn.functional as F

from dcoco_viz.lattice.walk import parse
from dcoco_viz.methods import checkpoint, heads
from dcoco_viz.methods.block import Block, Taught
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.methods.dspark.loss import distance
from tests.unit.methods.test_drafter import CONFIG

D, V, ROWS, SLOTS, K = 24, 30, 3, 5, 4
WAYS = [
    ("dcoco", {"rank": 8, "mlp_hidden": 16}),
    ("dcoco", {"rank": 8, "mlp_hidden": 16, "anchored": True}),
    ("dcoco", {"rank": 8, "mlp_hidden": 16, "pair": False, "candidate": False}),
    ("domino", {"rank": 6, "width": 10}),
    ("dspark", {"rank": 6, "variant": "vanilla"}),
    ("dspark", {"rank": 6, "variant": "gated"}),
    ("dspark", {"rank": 6, "variant": "rnn"}),
    ("selector", {"rank": 6}),
]
NAMES = ["-".join(map(str, (kind, *(v for v in settings.values())))) for kind, settings in WAYS]


def _made(kind, settings, random: bool, std: float = 0.5) -> torch.nn.Module:
    torch.manual_seed(4)
    head = heads.make(kind, D, V, **settings, top_k=K)
    if random:
        for p in head.parameters():
            torch.nn.init.normal_(p, std=std)
    return head


def _taught(seed=2) -> Taught:
    rng = torch.Generator().manual_seed(seed)
    table = torch.randn(V, D, generator=rng)
    tokens = torch.randint(0, V, (ROWS, SLOTS), generator=rng)
    labels = torch.where(tokens < 26, tokens, -1)  # the loss vocabulary is 0..25
    valid = torch.ones(ROWS, SLOTS, dtype=torch.bool)
    valid[1, 3:] = False
    logits = torch.randn(ROWS, SLOTS, 26, generator=rng)
    logits.scatter_add_(-1, labels.clamp(min=0)[..., None], torch.full((ROWS, SLOTS, 1), 3.0))  # labels in the pool
    soft_ids = torch.stack([labels, (labels + 1) % 26], -1)
    return Taught(
        torch.randn(ROWS, SLOTS + 1, D, generator=rng).requires_grad_(),
        logits.requires_grad_(),
        torch.randint(0, V, (ROWS,), generator=rng),
        tokens,
        labels,
        valid,
        soft_ids,
        torch.log(torch.tensor([0.8, 0.2])).expand(ROWS, SLOTS, 2),
        torch.arange(26),
        lambda ids: table[ids],
        1.0,
        4.0,
    )


def _block() -> Block:
    taught = _taught()
    logits, ids = taught.logits.detach().topk(K)
    return Block(taught.hidden.detach(), taught.anchor, ids, logits, taught.embed)


GREEDY = [parse("greedy")] * ROWS


@pytest.mark.parametrize(("kind", "settings"), WAYS, ids=NAMES)
def test_a_fresh_head_takes_the_drafters_argmax(kind, settings):
    head = _made(kind, settings, random=False)
    heads.start(head, torch.randn(V, D))
    decided = heads.decide(head, _block(), GREEDY)
    assert not decided.ranks.any()
    assert (decided.scores is None) == (kind in ("domino", "dspark"))


@pytest.mark.parametrize(("kind", "settings"), WAYS, ids=NAMES)
def test_what_is_recorded_explains_the_path(kind, settings):
    block, head = _block(), _made(kind, settings, random=True, std=1.5)
    decided = heads.decide(head, block, GREEDY)
    assert decided.ranks.any(), "these weights should leave the argmax path somewhere"
    rows = decided.corrected
    if rows is None:  # slot 1 by its draft logits, then the chosen predecessor's row
        after = [decided.scores[range(ROWS), p, decided.ranks[:, p]] for p in range(SLOTS - 1)]
        rows = torch.stack([block.logits[:, 0], *after], 1)
    assert torch.equal(rows.argmax(-1), decided.ranks)


@pytest.mark.parametrize("variant", ["vanilla", "gated", "rnn"])
def test_dspark_against_the_plain_formula(variant):
    head, block = _made("dspark", {"rank": 6, "variant": variant}, random=True), _block()
    found = head(block)
    for r in range(ROWS):
        token, last = block.anchor[r], None
        for slot in range(SLOTS):
            h = block.hidden[r, slot + 1]
            m = head.before.weight[token].clone()
            if variant == "gated":
                m = m * torch.sigmoid(head.gate.weight @ h + head.gate.bias)
            if variant == "rnn" and slot:
                m = m + torch.tanh(head.carry.weight @ last)
            row = block.logits[r, slot] + head.after.weight[block.ids[r, slot]] @ m
            torch.testing.assert_close(found.corrected[r, slot], row, atol=1e-5, rtol=1e-5)
            sure = torch.sigmoid(head.confidence.weight[0] @ torch.cat([h, m]) + head.confidence.bias[0])
            torch.testing.assert_close(found.confidence[r, slot], sure, atol=1e-5, rtol=1e-5)
            token, last = block.ids[r, slot, row.argmax()], m


def test_domino_against_the_plain_formula():
    head, block = _made("domino", {"rank": 6, "width": 10}, random=True), _block()
    found, gru = head(block), head.gru
    for r in range(ROWS):
        token, state = block.anchor[r], torch.zeros(10)
        for slot in range(SLOTS):
            x = head.enter.weight @ block.embed(token)
            i, h = gru.weight_ih_l0 @ x + gru.bias_ih_l0, gru.weight_hh_l0 @ state + gru.bias_hh_l0
            reset, keep = torch.sigmoid(i[:10] + h[:10]), torch.sigmoid(i[10:20] + h[10:20])
            state = (1 - keep) * torch.tanh(i[20:] + reset * h[20:]) + keep * state
            mixed = F.silu(head.project.weight @ torch.cat([block.hidden[r, slot + 1], state]))
            row = block.logits[r, slot] + (head.table.weight[block.ids[r, slot]] @ mixed if slot else 0.0)
            torch.testing.assert_close(found.corrected[r, slot], row, atol=1e-5, rtol=1e-5)
            token = block.ids[r, slot, row.argmax()]


def test_selector_against_the_plain_formula():
    head, block = _made("selector", {"rank": 6}, random=True), _block()
    scores = head(block).scores
    for r in range(ROWS):
        for p in range(SLOTS - 1):
            state = head.state.weight @ block.hidden[r, p + 2]
            for a in range(K):
                for b in range(K):
                    after = head.after.weight[block.ids[r, p + 1, b]]
                    lead = head.before.weight[block.ids[r, p, a]] + state
                    expected = block.logits[r, p + 1, b] + lead @ after
                    torch.testing.assert_close(scores[r, p, a, b], expected, atol=1e-4, rtol=1e-5)


def test_rows_walk_each_by_its_own_rule():
    head, block = _made(*WAYS[1], random=True), _block()
    names = ["greedy", "global-sum", "geometric:0.5"]
    mixed = heads.decide(head, block, [parse(name) for name in names])
    for row, name in enumerate(names):
        assert torch.equal(mixed.ranks[row], heads.decide(head, block, [parse(name)] * ROWS).ranks[row])


@pytest.mark.parametrize(("kind", "settings"), WAYS, ids=NAMES)
def test_a_loss_reaches_the_head_and_the_drafter_and_skips_what_lies_outside(kind, settings):
    head, taught = _made(kind, settings, random=True), _taught()
    loss = heads.KINDS[kind].loss(head, taught)
    learning = [p for p in head.parameters()]
    grads = torch.autograd.grad(loss, [*learning, taught.hidden, taught.logits], allow_unused=True)
    named = dict(zip([name for name, _ in head.named_parameters()], grads, strict=False))
    assert loss.isfinite()
    assert all(g is not None and g.any() for g in named.values()), [n for n, g in named.items() if g is None]
    assert grads[-1].any() and not grads[-1][1, 3:].any(), "slots past the end of a response say nothing"


@pytest.mark.parametrize(("kind", "settings"), WAYS, ids=NAMES)
def test_a_head_learns(kind, settings):
    torch.manual_seed(0)
    head = heads.make(kind, D, V, **settings, top_k=K)
    heads.start(head, torch.randn(V, D))
    taught = _taught()
    taught = taught._replace(hidden=taught.hidden.detach(), logits=taught.logits.detach())
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.02)
    losses = []
    for _ in range(40):
        loss = heads.KINDS[kind].loss(head, taught)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_dominos_own_loss_takes_over():
    shares = heads.KINDS["domino"].shares
    assert shares(0.0) == (1.0, 0.0) and shares(0.25) == (0.5, 0.5) and shares(1.0) == (0.0, 1.0)
    assert heads.KINDS["dcoco"].shares(0.3) == (1.0, 1.0)


def test_distance_is_half_the_l1_distance():
    p, q = torch.tensor([0.5, 0.3, 0.1, 0.1]), torch.tensor([0.6, 0.0, 0.4, 0.0])
    found = distance(p.log(), torch.tensor([0, 2, -1]), torch.log(torch.tensor([0.6, 0.4, 0.9])))
    torch.testing.assert_close(found, (p - q).abs().sum() / 2)


@pytest.mark.parametrize(("kind", "settings"), WAYS, ids=NAMES)
def test_a_checkpoint_brings_its_head(kind, settings, tmp_path):
    head = heads.make(kind, CONFIG.hidden_size, CONFIG.vocab_size, **settings, top_k=8)
    checkpoint.save(tmp_path, Drafter(CONFIG), head, dtype=torch.float32)
    again = checkpoint.load_head(tmp_path)
    assert type(again) is type(head) and again.settings == head.settings
    for name, tensor in head.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_settings_that_no_head_has_are_named(tmp_path):
    checkpoint.save(tmp_path, Drafter(CONFIG), heads.make("domino", CONFIG.hidden_size, CONFIG.vocab_size))
    config = (tmp_path / "config.json").read_text().replace('"width"', '"breadth"')
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(checkpoint.CheckpointError, match="domino_config cannot be used.*breadth"):
        checkpoint.load_head(tmp_path)
