"""What torch keeps of tensors, read past what a subclass of the user's answers."""

from __future__ import annotations

from typing import Any

from xleak import _native
from xleak.shell.fields import class_fields, loaded_class


def tensor_class() -> Any:
    """torch._C.TensorBase, which every tensor is of; None where torch is not imported."""
    return loaded_class("torch._C", "TensorBase")


def is_tensor(value: object) -> bool:
    """Whether it is a tensor, by its type alone."""
    base = tensor_class()
    return base is not None and _native.is_kind_of(value, base)


def tensor_field(tensor: object, name: str) -> Any:
    """An attribute of a tensor, as torch's base class has it."""
    with untouched():
        return class_fields(tensor_class())[name].__get__(tensor)


def untouched() -> Any:
    """A block in which torch calls no `__torch_function__` of a subclass."""
    return _native.fields_of_module("torch._C")["DisableTorchFunction"]()
