"""A program whose objects note each call of a method of theirs that xleak makes, and raise then.

Run as the cells of a session. `calls` has what was called, and the line of xleak that did.
"""

# mypy: ignore-errors
# ruff: noqa: B006, E402, F821

import collections
import concurrent.futures
import functools
import inspect
import logging
import sys
import threading
import types
import weakref

calls = []

# Who else may ask: the program itself, and what runs and shows its cells.
OTHERS = ("__main__", "IPython", "ipykernel")
# A kernel's reply has the text of an error.
SHOWS = "_text_of"
# Made, not asked.
LEFT = {"__new__", "__init__", "__init_subclass__", "__subclasshook__", "__del__", "__weakref__"}
LEFT |= {"__qualname__", "__module__", "__doc__"}
FUNCTIONS = (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
FIELDS = (types.GetSetDescriptorType, types.MemberDescriptorType, property)
# Of what `object` has no method.
MORE = {
    "__bool__": True,
    "__len__": 0,
    "__iter__": iter(()),
    "__contains__": False,
    "__call__": None,
    "__index__": 1,
    "__int__": 1,
    "__float__": 1.0,
    "__enter__": None,
    "__exit__": None,
    "items": (),
    "keys": (),
    "values": (),
    "get": None,
}


def note(what):
    """Notes a call by xleak, and raises."""
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(OTHERS) or frame.f_code.co_name == SHOWS:
            return
        if module.startswith("xleak"):
            calls.append(f"{what} by {module}:{frame.f_lineno}")
            raise RuntimeError(f"xleak calls {what}")
        frame = frame.f_back


def watched_method(base, name, plain):
    def method(self, *args, **kwargs):
        note(f"{base.__name__}.{name}")
        return plain(self, *args, **kwargs)

    return method


def watched_field(base, name, plain):
    def read(self):
        note(f"{base.__name__}.{name}")
        return plain.__get__(self)

    return property(read, lambda self, value: plain.__set__(self, value))


def watched(base, metaclass):
    """A subclass that overrides all that its base has."""
    names = {}
    for name in set(dir(base)) - LEFT:
        plain = inspect.getattr_static(base, name)
        if type(plain) in FUNCTIONS:
            names[name] = watched_method(base, name, plain)
        elif type(plain) in FIELDS:
            names[name] = watched_field(base, name, plain)
    if base is object:
        for name, answer in MORE.items():
            names[name] = watched_method(base, name, lambda *_, answer=answer, **__: answer)
    if base is not type:
        names["__class__"] = watched_field(base, "__class__", object.__dict__["__class__"])
    return metaclass(f"Hostile_{base.__name__}", (base,), names)


def watched_torch_function(cls, function, types, args=(), kwargs=None):
    note(f"__torch_function__ of {getattr(function, '__name__', function)}")
    return torch.Tensor.__torch_function__.__func__(cls, function, types, args, kwargs)


def hostile(base):
    kind = type(base)
    if kind not in METACLASSES:
        METACLASSES[kind] = watched(kind, type)
    if base not in SUBCLASSES:
        SUBCLASSES[base] = watched(base, METACLASSES[kind])
    return SUBCLASSES[base]


METACLASSES, SUBCLASSES = {}, {}
ARGUMENTS = {
    dict: ({"a": 1, "b": [2]},),
    collections.OrderedDict: ({"a": 1},),
    collections.defaultdict: (list, {"a": 1}),
    collections.deque: ([1, 2],),
    list: ([1, 2],),
    tuple: ([1, 2],),
    set: ([1, 2],),
    frozenset: ([1, 2],),
    str: ("text",),
    bytes: (b"bytes",),
    bytearray: (b"bytes",),
    int: (7,),
    float: (7.5,),
    complex: (7j,),
    Exception: ("failed", [1]),
    types.ModuleType: ("hostile_module",),
    functools.partial: (print, 1),
    types.SimpleNamespace: (),
    object: (),
    threading.Thread: (),
    logging.Handler: (),
    concurrent.futures.Future: (),
}

# %% Those of libraries
import contextlib

import numpy
import torch

LAYER = torch.nn.Linear(300, 300)
ARGUMENTS |= {
    torch.nn.Parameter: (torch.ones(200, 200),),
    torch.nn.Module: (),
    torch.utils.data.Dataset: (),
    torch.utils.data.DataLoader: ([1, 2],),
    torch.optim.SGD: (list(LAYER.parameters()), 0.1),
}


# %% One of each, and everywhere that xleak looks
class Holder:
    pass


def made(base):
    it = hostile(base)(*ARGUMENTS[base])
    if base not in (str, bytes, int, float, complex, bytearray):
        with contextlib.suppress(AttributeError, TypeError):
            object.__setattr__(it, "payload", bytearray(200_000))
    return it


def tensor():
    kind = hostile(torch.Tensor)
    kind.__torch_function__ = classmethod(watched_torch_function)
    return torch.ones(300, 300).as_subclass(kind)


def array():
    return numpy.ones((300, 300)).view(hostile(numpy.ndarray))


def closed_over(it):
    return lambda: it


@functools.cache
def cached(key):
    return bytearray(100_000)


def defaulted(it, into=[]):
    into.append(it)


def one_of_each():
    return [*map(made, ARGUMENTS), tensor(), array(), hostile(object)]


everything = one_of_each()
for number, it in enumerate(one_of_each()):
    globals()[f"named_{number}"] = it
    globals()[hostile(str)(f"odd_{number}")] = made(object)
in_list, in_tuple = one_of_each(), tuple(one_of_each())
in_dict = {number: it for number, it in enumerate(one_of_each())}
as_keys = {made(int): made(object), made(str): made(list), made(tuple): [made(dict)]}
in_set = {made(frozenset), made(str)}
in_deque = collections.deque(one_of_each())
in_holder = Holder()
for number, it in enumerate(one_of_each()):
    setattr(in_holder, f"field_{number}", it)
    setattr(Holder, f"of_class_{number}", closed_over(it))
    defaulted(it)
    Out[1000 + number] = made(object) if number % 2 else it
    cached(number)
functions = [closed_over(it) for it in one_of_each()]
partials = [functools.partial(print, it, key=it) for it in one_of_each()]
in_layer = torch.nn.Linear(2, 2)
in_layer.extra = made(dict)
in_layer.register_forward_hook(closed_over(made(list)))
cycle = Holder()
cycle.itself, cycle.parts = cycle, one_of_each()
del cycle
logging.getLogger("hostile").addHandler(made(logging.Handler))
finalizers = [weakref.finalize(made(object), print, made(list), end=made(str))]
generator = (it for it in one_of_each())
next(generator)
threads = [threading.Timer(1000, closed_over(made(list)), [made(dict)])]

# %% What stands in sys.modules
MODULES = ["keras", "matplotlib._pylab_helpers", "polars", "pyarrow", "tensorflow"]
MODULES += ["ipywidgets.widgets.widget", "tensorflow.python.client.session"]
MODULES += ["tensorflow.python.eager.context", "tensorflow.python.framework.ops"]
for name in MODULES:
    sys.modules.setdefault(name, made(object) if len(name) % 2 else made(types.ModuleType))

# %% Growth from cell to cell, and what is deleted
in_list.extend(one_of_each())
in_dict.update({number + 100: it for number, it in enumerate(one_of_each())})
everything = everything + one_of_each()
loss = (tensor().requires_grad_() * 2).sum()
losses = [loss, (LAYER(torch.ones(2, 300)) ** 2).sum()]

# %% A value that is shown
everything[0]

# %% Another
tensor()

# %% A deleted one
named_3 = named_5 = None
del named_7, in_tuple


# %% An error that keeps frames
def fails(*inner):
    raise made(Exception) from made(Exception)


fails(*one_of_each())
