"""Cells with tensors for the random sessions: what holds them in ways that Python's references do not show, and what
asks for outputs in ways that a source does not show at once."""

from __future__ import annotations

# Half a mebibyte of float32 a side: two of them are a finding.
SETUP = """
import contextvars, sys, threading, weakref
import numpy as np
import torch
torch.manual_seed(0)
torch.utils.hooks.RemovableHandle.next_id = 0
SIDE = 1024
held, ended, threads, seen = contextvars.ContextVar('held'), threading.Event(), [], []
def tensor(fill=1.0): return torch.full((SIDE, SIDE), fill)
def leaf(fill=1.0): return tensor(fill).requires_grad_()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(SIDE, SIDE, bias=False)
        torch.nn.init.constant_(self.inner.weight, 0.5)
    def forward(self, x): return self.inner(x)
    def __repr__(self): return 'a net'
class Ring:
    def __init__(self, value): self.value, self.me = value, self
    def __repr__(self): return 'a ring'
class Held:
    value = None
class Tagged(torch.Tensor): pass
class Noisy(torch.Tensor):
    def __del__(self, seen=seen): seen.append('gone')
def fail_with(value):
    kept = value * 2
    raise ValueError('failed')
def numbers(value):
    kept = value + 1
    yield 1
    yield float(kept.sum())
def keep(value):
    ended.wait()
def get(name): return globals().get(name)
def is_tensor(it): return isinstance(it, torch.Tensor)
def address(it): return it.untyped_storage().data_ptr() if is_tensor(it) else None
def weak(it):
    try: return weakref.ref(it)
    except TypeError: return None
def dead(it): return isinstance(it, weakref.ref) and it() is None
"""

# {name} and {other} are names, {fresh} makes one of these, {number} is that of the first cell.
FRESH = [
    "tensor()",
    "tensor(2.0)[::2]",
    "leaf() * 2",
    "[tensor(), tensor(3.0).T]",
    "Ring(tensor())",
    "Net()",
    "np.ones((SIDE, SIDE))",
    "np.ones((SIDE, SIDE))[1:]",
    "torch.from_numpy(np.ones((SIDE, SIDE)))",
    "tensor().as_subclass(Tagged)",
    "Net().inner.weight",
]
ASKED = "{fresh}|||1|||2|||3|||type(ask({number} + 1)).__name__"
# By kind; ||| stands between cells.
CELLS = {
    "tensor": "{name} = {fresh}",
    "show": "{fresh}",
    "name and show": "{name} = {fresh}\n{name}",
    "lose": "{name} = {fresh}\n{name}|||{name} = None|||'x'|||'y'|||'z'",
    "view": "{name} = get('{other}').view(-1)[5:] if is_tensor(get('{other}')) and get('{other}').is_contiguous() "
    "else None",
    "view of a shown one": "tensor()|||{name} = _[0]",
    "show a view": "{name} = tensor(4.0)\n{name}[1:]|||del {name}|||1|||2|||3",
    "leaf": "{name} = leaf()\n{other} = ({name} * {name}).sum()",
    "backward": "{name} = leaf(2.0)\n({name} * 3).sum().backward()\n{name}",
    "show a gradient": "{name} = leaf()\n({name} * 2).sum().backward()\n{name}.grad",
    "in place": "{name} = tensor()\n{name}.add_(1)",
    "detach": "{name} = leaf()\n{other} = {name}.detach()\n{other}",
    "net": "{name} = Net()\n{other} = {name}(tensor())\n{other}",
    "hook": "{name} = Net()\nmarks = []\n"
    "{other} = {name}.register_forward_hook(lambda m, i, o: marks.append(o))\n{name}(tensor()).sum()",
    "hook removed": "{name} = Net()\nhandle = {name}.register_forward_hook(lambda m, i, o: None)\n"
    "{name}(tensor());\nhandle.remove()\ndel {name}",
    "hook left": "handle = (lambda net: net.register_forward_hook(lambda m, i, o: net))(Net());",
    "hook of a tensor": "{name} = leaf()\n{name}.register_hook(lambda g, t={name}: g * 2)\n"
    "{name}.sum().backward()",
    "ring": "{name} = Ring([tensor() for _ in range(5)])",
    "lose a ring": "Ring([tensor() for _ in range(5)]);",
    "ring of a graph": "{name} = Ring(leaf())\n{name}.more = [({name}.value * k) for k in range(5)]\n{name} = None",
    "lose a net": "{name} = Net()\n{name}.inner.hidden = [{name}] + [tensor() for _ in range(4)]\n{name} = None",
    "create graph": "{name} = leaf()\n({name} ** 3).sum().backward(create_graph=True)",
    "watch": "{name} = {fresh}\n{name}|||{other} = weak({name});|||{name} = None",
    "watch inside": "{name} = Ring(np.ones((5 * SIDE, SIDE)))\n{other} = weak({name}.value)\n{name} = None",
    "watch a base": "{name} = np.ones((SIDE, SIDE))\n{other} = weak({name})\n{name}[1:]|||{name} = None|||1|||2|||3",
    "watch an array": "{name} = np.ones((SIDE, SIDE))\n{other} = weak({name})\n{name}|||{name} = None|||1|||2|||3",
    "watch by proxy": "{name} = np.ones((SIDE, SIDE))\n{other} = weakref.proxy({name})\n{name}|||"
    "{name} = None|||1|||2|||3",
    "finalize": "{name} = np.ones((SIDE, SIDE))\nweakref.finalize({name}, seen.append, 'final').atexit = False\n"
    "{name}|||{name} = None|||1|||2|||3",
    "noisy": "tensor().as_subclass(Noisy)|||1|||2|||3",
    "weak storage": "{name} = tensor()\n{other} = weak({name}.untyped_storage())\n{name}|||{name} = None",
    "fail": "fail_with(tensor())",
    "fail large": "fail_with([tensor()] * 3)",
    "fail and keep": "try: fail_with(leaf())\nexcept ValueError as error: {name} = error\nraise {name}",
    "keep the traceback": "try: fail_with(tensor())\n"
    "except ValueError as error:\n    {name} = error.__traceback__\n    raise",
    "keep the frame": "try: fail_with(tensor())\n"
    "except ValueError as error:\n    {name} = error.__traceback__.tb_next.tb_frame\n    raise",
    "ask of the error": "last = lambda: vars(sys).get('last_value')|||"
    "fail_with(tensor())|||1|||2|||type(last()).__name__",
    "print the error": "import traceback\ndef last(): traceback.print_last(file=sys.stdout)|||"
    "fail_with(tensor())|||1|||2|||last()",
    "output by key": "ask = lambda n: globals()['Out'][n]|||" + ASKED,
    "output by eval": "ask = lambda n: eval('Out[%d]' % n)|||" + ASKED,
    "output by format": "ask = lambda n: eval(f'_{{n}}')|||" + ASKED,
    "output by sum": "ask = lambda n: get('_' + str(n))|||" + ASKED,
    "output by shell": "ask = lambda n: get_ipython().user_ns['_oh'][n]|||" + ASKED,
    "input": "In[{number}], _i, _i{number}, get('_ii')",
    "underscore": "{name} = _",
    "underscores": "{name} = [_, __, ___]",
    "close over": "def {name}(kept=get('{other}')): return lambda: (kept, get('{name}'))\n{other} = {name}()",
    "generator": "{name} = numbers(tensor())\nnext({name})",
    "use the generator": "next({name}, None) if hasattr({name}, 'gi_frame') else None",
    "lose a generator": "{name} = numbers(tensor())\nnext({name})\n{name}|||{name} = None|||1|||2|||3",
    "class": "Held.value = {fresh}\nHeld.value",
    "thread": "threads.append(threading.Thread(target=keep, args=({fresh},)))\nthreads[-1].start()",
    "thread of a shown one": "{fresh}|||threads.append(threading.Thread(target=keep, args=(_,)))\n"
    "threads[-1].start()|||1|||2|||3",
    "context": "held.set({fresh});",
    "context of a shown one": "{fresh}|||held.set(_);|||1|||2|||3|||type(held.get()).__name__",
    "delete": "globals().pop('{name}', None);",
    "small": "'{name}' * 3",
    "same": "[[get(p) is get(q) for p in 'abcd'] for q in 'abcd']",
    "shared": "[[address(get(p)) == address(get(q)) for p in 'abcd'] for q in 'abcd']",
    "sums": "[float(get(n).detach().sum()) for n in 'abcd' if is_tensor(get(n))]",
    "dead or alive": "[dead(get(n)) for n in 'abcd'], seen",
    "add": "[get(n).detach().add_(1) for n in 'abcd' if is_tensor(get(n))];",
    "random": "torch.rand(2)",
}
# What threads hold would be held in the next session.
END = "ended.set()\nfor it in threads: it.join()\nthreads.clear()"
