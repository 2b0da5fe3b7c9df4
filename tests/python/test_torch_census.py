"""What is told of live tensors and of autograd's graphs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch_process import _torch, ran


@pytest.fixture(autouse=True)
def watched() -> None:
    _torch.install()
    gc.collect()


def row_of(tensor: torch.Tensor) -> _torch.StorageRow:
    key = tensor.untyped_storage()._cdata
    (row,) = (row for row in _torch.census() if row.storage.key == key)
    return row


# --- what is alive ---------------------------------------------------------------------------


def test_views_of_one_storage_are_one_row() -> None:
    base = torch.zeros(100, 1000)
    views = [base[i] for i in range(10)]
    row = row_of(base)
    assert row.storage.bytes == 400_000
    assert row.shape == [100, 1000]
    assert (row.dtype, row.storage.device) == ("float", "cpu")
    assert set(row.tensors) == {id(base), *map(id, views)}


def test_each_tensor_of_a_row_tells_how_its_elements_lie() -> None:
    base = torch.zeros(2, 3, 50, 40)
    turned = base.permute(0, 1, 3, 2)
    row = row_of(base)
    layouts = dict(zip(row.tensors, row.layouts, strict=True))
    assert layouts == {id(base): "contiguous", id(turned): "strided"}
    by_channels = base.contiguous(memory_format=torch.channels_last)
    assert row_of(by_channels).layouts == ["channels last"]


def test_a_row_knows_the_cell_that_made_it() -> None:
    _torch.begin_cell(41)
    tensor = torch.empty(1000)
    _torch.end_cell(41)
    assert row_of(tensor).storage.cell == 41
    assert row_of(torch.empty(1000)).storage.cell is None


def test_a_row_tells_of_autograd() -> None:
    leaf = torch.randn(1000, requires_grad=True)
    result = leaf * 2
    assert (row_of(leaf).requires_grad, row_of(leaf).grad_fn) == (True, None)
    assert row_of(result).grad_fn == "MulBackward0"
    assert not row_of(torch.zeros(1)).requires_grad


def test_a_gradient_that_only_its_leaf_holds_is_found() -> None:
    leaf = torch.randn(12_345, requires_grad=True)
    (leaf * 2).sum().backward()
    gc.collect()
    rows = [row for row in _torch.census() if row.is_gradient and row.shape == [12_345]]
    assert [row.storage.bytes for row in rows] == [leaf.nbytes]


def test_a_sparse_tensor_has_a_row_for_each_of_its_storages() -> None:
    sparse = torch.eye(321).to_sparse()
    sizes = {row.storage.bytes for row in _torch.census() if id(sparse) in row.tensors}
    assert sizes == {2 * 321 * 8, 321 * 4}


def test_tensors_without_memory_have_no_row() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    meta = torch.empty(10**9, device="meta")
    with FakeTensorMode():
        fake = torch.empty(10**9)
    listed = {tensor for row in _torch.census() for tensor in row.tensors}
    assert not {id(meta), id(fake)} & listed


def test_the_census_runs_no_code_of_the_users() -> None:
    touched: list[str] = []

    class Loud(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, function: Any, *args: Any, **kwargs: Any) -> Any:
            touched.append(function.__name__)
            return super().__torch_function__(function, *args, **kwargs)

    class Liar:
        @property
        def __class__(self) -> Any:
            touched.append("__class__")
            return torch.Tensor

        @__class__.setter
        def __class__(self, value: Any) -> None: ...

    loud, liar = torch.ones(777).as_subclass(Loud), Liar()
    touched.clear()
    rows = _torch.census()
    assert touched == []
    assert [row.storage.bytes for row in rows if id(loud) in row.tensors] == [777 * 4]
    assert not [row for row in rows if id(liar) in row.tensors]


# --- autograd --------------------------------------------------------------------------------


def test_a_graph_tells_what_it_saved_and_that_backward_released_it() -> None:
    layer = torch.nn.Linear(500, 300)
    loss = torch.relu(layer(torch.randn(64, 500))).sum()
    graph = _torch.graph(loss)
    assert sorted(saved.storage.bytes for saved in graph.saved) == [64 * 300 * 4, 64 * 500 * 4]
    assert {saved.node for saved in graph.saved} == {"ReluBackward0", "AddmmBackward0"}
    assert sorted(leaf.bytes for leaf in graph.parameters) == [300 * 4, 300 * 500 * 4]
    loss.backward()
    assert _torch.graph(loss).saved == []
    assert _torch.graph(loss.grad_fn).nodes == graph.nodes


def test_what_another_backward_pass_released_is_counted() -> None:
    shared = torch.randn(10, requires_grad=True).exp()
    first, second = shared.sin().sum(), shared.cos().sum()
    first.backward(retain_graph=True)
    assert _torch.graph(first).released == 0
    second.backward()
    assert (_torch.graph(first).released, len(_torch.graph(first).saved)) == (1, 1)
    assert _torch.graph(second).released == 2


def test_a_list_of_saved_tensors_is_read_and_its_release_seen() -> None:
    parts = [torch.randn(100, requires_grad=True) for _ in range(3)]
    result = (
        torch.einsum("i,j->ij", parts[0], parts[1]).sum()
        + torch.cdist(parts[2][:, None], parts[2][:, None]).sum()
    )
    assert _torch.graph(result).saved
    result.backward()
    assert _torch.graph(result).saved == []


def test_the_depth_is_that_of_the_longest_chain() -> None:
    total = torch.zeros((), requires_grad=True)
    for _ in range(1000):
        total = total + 1
    assert _torch.graph(total).depth == 1001
    assert _torch.graph(total + total).depth == 1002


def test_a_long_chain_is_walked_and_can_still_be_freed() -> None:
    # Torch itself overflows the stack where each node of the chain was given a Python object.
    nodes = ran("""
        total = torch.zeros((), requires_grad=True)
        for _ in range(300_000):
            total = total + 1
        nodes = _torch.graph(total).nodes
        del total
        print(nodes)
    """)
    assert nodes == 300_001


def test_hooks_of_nodes_and_leaves_are_counted() -> None:
    leaf = torch.randn(3, requires_grad=True)
    middle = leaf * 2
    result = middle.sum()
    assert _torch.graph(result).hooks == 0
    leaf.register_hook(lambda grad: grad)
    middle.grad_fn.register_hook(lambda *grads: None)
    middle.retain_grad()
    leaf.register_post_accumulate_grad_hook(lambda tensor: None)
    assert _torch.graph(result).hooks == 4


def test_a_function_of_the_users_tells_its_context_and_what_it_saved() -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(torch.ones(4321))
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            return grads[0] * 2

    result = Double.apply(torch.randn(3, requires_grad=True))
    graph = _torch.graph(result)
    assert graph.contexts == [id(result.grad_fn)]
    assert [saved.storage.bytes for saved in graph.saved] == [4321 * 4]


def test_what_hooks_packed_is_not_unpacked() -> None:
    unpacked: list[Any] = []

    def unpack(packed: Any) -> torch.Tensor:
        unpacked.append(packed)
        return torch.zeros(10)

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: "packed", unpack):
        result = torch.randn(10, requires_grad=True).exp()
    graph = _torch.graph(result)
    assert (graph.packed, graph.saved, unpacked) == (1, [], [])


def test_a_tensor_changed_since_it_was_saved_is_still_told() -> None:
    x = torch.randn(999, requires_grad=True)
    y = x.exp()
    saved_bytes = [saved.storage.bytes for saved in _torch.graph(y).saved]
    with torch.no_grad():
        y.add_(1)
    assert [saved.storage.bytes for saved in _torch.graph(y).saved] == saved_bytes == [999 * 4]


def kept_by(*tensors: torch.Tensor, limit_ms: float = 1000.0) -> list[list[int]]:
    """The bytes of the storages that the graph of each of the tensors keeps."""
    rows = _torch.kept_by_graphs(limit_ms).rows
    return [
        sorted(it.storage.bytes for it in rows if it.tensor == id(tensor)) for tensor in tensors
    ]


def test_what_graphs_keep_is_told_of_each_tensor_that_leads_to_it() -> None:
    exp = torch.randn(30_000, requires_grad=True).exp()
    first, second = exp.sum(), exp.sum().sin()
    assert kept_by(exp, first, second) == [[120_000], [120_000], [4, 120_000]]
    assert kept_by(exp.detach()) == [[]]


def test_what_a_graph_keeps_in_all_is_what_it_saved() -> None:
    net = torch.nn.Sequential(
        torch.nn.Linear(50, 70), torch.nn.Tanh(), torch.nn.Linear(70, 9), torch.nn.ReLU()
    )
    halves = net(torch.randn(6, 50)).chunk(2)
    loss = (halves[0] * halves[1]).sum() + halves[0].exp().mean()
    alone = [sorted(it.storage.bytes for it in _torch.graph(t).saved) for t in (loss, *halves)]
    assert kept_by(loss, *halves) == alone


def test_what_only_graphs_hold_is_in_no_row_of_the_census() -> None:
    loss = (torch.randn(30_000, requires_grad=True) * 3).exp().sum()
    shown = {row.storage.key for row in _torch.census()}
    hidden = [it for it in _torch.kept_by_graphs(1000).rows if it.storage.key not in shown]
    assert [it.tensor for it in hidden if it.storage.bytes == 120_000] == [id(loss)]


def test_a_thousand_tensors_of_one_chain_cost_one_walk() -> None:
    layers = [torch.randn(4, requires_grad=True)]
    for _ in range(20_000):
        layers.append(layers[-1] + 1)
    total = layers[-1].exp()
    # Walked for each of its tensors, the chain has 200 million nodes.
    assert kept_by(total, layers[10_000], limit_ms=5000.0) == [[16], []]


def test_what_takes_too_long_is_left_out() -> None:
    result = torch.randn(1000, requires_grad=True).exp()
    assert kept_by(result, limit_ms=0.0) == [[]]
    assert [_torch.kept_by_graphs(limit).complete for limit in (0.0, 5000.0)] == [False, True]


def test_a_list_of_ever_longer_sums_is_told_in_part() -> None:
    sums = [torch.zeros(1, requires_grad=True)]
    for _ in range(500):
        sums.append(sums[-1] + sums[0].exp())
    kept = _torch.kept_by_graphs(60_000.0)
    assert (kept.complete, len(kept.rows) <= 100_000) == (False, True)


def test_whoever_waits_interrupts_a_long_walk() -> None:
    total = torch.zeros((), requires_grad=True)
    for _ in range(5000):
        total = total + 1
    answers = iter([False, False, True])
    kept = _torch.kept_by_graphs(5000.0, lambda: next(answers))
    assert (kept.complete, list(answers)) == (False, [])


def net(width: int = 16) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(8, width), torch.nn.ReLU(), torch.nn.Linear(width, 2)
    )


def running(pass_: Callable[[], torch.Tensor], count: int) -> torch.Tensor:
    total = torch.zeros(())
    for _ in range(count):
        total = 0.9 * total + pass_().sum()
    return total


def last_state(cell: torch.nn.Module, count: int, *shape: int) -> torch.Tensor:
    state = None
    for _ in range(count):
        state = cell(torch.rand(*shape, 8), state)
        state = state[1] if isinstance(cell, torch.nn.RNNBase) else state
    return state[0] if isinstance(state, tuple) else state


def test_a_running_sum_goes_back_through_all_its_passes() -> None:
    model = net()
    passes = _torch.passes(running(lambda: model(torch.rand(4, 8)), 12))
    assert (passes.count, passes.in_sequence, passes.widest < 12) == (12, False, True)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"])
def test_a_state_that_is_led_on_goes_through_its_passes_in_sequence(kind: str) -> None:
    cell = getattr(torch.nn, kind)(8, 16)
    shape = (3,) if kind.endswith("Cell") else (7, 3)
    passes = _torch.passes(last_state(cell, 5, *shape))
    assert (passes.count, passes.in_sequence) == (5, True)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_a_sequence_is_one_pass_of_a_recurrent_network(kind: str) -> None:
    network = getattr(torch.nn, kind)(8, 16, num_layers=2)
    assert _torch.passes(last_state(network, 1, 30, 3)).count == 1


def test_one_output_and_a_sum_over_parameters_are_one_pass() -> None:
    model = net()
    penalty = sum(weight.norm() for weight in model.parameters())
    assert _torch.passes(model(torch.rand(4, 8)).sum() + penalty * 0).count == 2
    assert [_torch.passes(it).count for it in (penalty, model(torch.rand(4, 8)))] == [1, 1]


def test_outputs_put_side_by_side_are_as_wide_as_they_are_many() -> None:
    model = net()
    passes = _torch.passes(torch.cat([model(torch.rand(4, 8)) for _ in range(12)]))
    assert (passes.count, passes.in_sequence, passes.widest) == (12, False, 12)


def test_a_graph_leads_to_what_it_was_made_of_and_to_nothing_later() -> None:
    first = torch.randn(3, requires_grad=True).exp()
    second = first.sin()
    assert _torch.leads_to(second, _torch.passes(first).node)
    assert not _torch.leads_to(first, _torch.passes(second).node)
    address, number = _torch.passes(first).node
    assert not _torch.leads_to(second, (address, number + 1))


def test_a_storage_is_followed_without_being_kept() -> None:
    tensor = torch.zeros(1000)
    watch = _torch.watch(tensor)
    view = tensor[3:5]
    assert watch.alive() == {tensor.untyped_storage()._cdata: 4000}
    del tensor
    assert watch.alive() == {view.untyped_storage()._cdata: 4000}
    before = _torch.live_bytes()
    del view
    assert (watch.alive(), before - _torch.live_bytes()) == ({}, 4000)


def test_a_tensor_without_a_graph_has_no_nodes() -> None:
    assert _torch.graph(torch.zeros(3)).nodes == 0


def test_what_has_no_graph_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="takes a tensor or its grad_fn"):
        _torch.graph("a string")


# --- devices ---------------------------------------------------------------------------------


def test_no_accelerator_in_use_has_no_row() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a card, and another test may have used it")
    assert _torch.device_stats() == []
