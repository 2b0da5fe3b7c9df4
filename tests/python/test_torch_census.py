"""What is told of live tensors and of autograd's graphs."""

from __future__ import annotations

import gc
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


def test_what_graphs_alone_hold_names_a_tensor_whose_graph_it_is() -> None:
    losses = [(torch.randn(30_000, requires_grad=True) * 3).exp().sum() for _ in range(2)]
    shown = {row.storage.key for row in _torch.census()}
    hidden = [kept for kept in _torch.kept_by_graphs() if kept.saved.storage.key not in shown]
    ours = {kept.tensor: kept.saved for kept in hidden if kept.saved.storage.bytes == 120_000}
    assert set(ours) == {id(loss) for loss in losses}
    assert {saved.node for saved in ours.values()} == {"ExpBackward0"}


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
