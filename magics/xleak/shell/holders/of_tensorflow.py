"""Holders of TensorFlow's and Keras's: what watches each cell once they are imported, and what is asked by
each search."""

from __future__ import annotations

import sys

from xleak.shell.holders.default_graph import DefaultGraph
from xleak.shell.holders.keras_models import KerasModels
from xleak.shell.holders.keras_passes import KerasPasses
from xleak.shell.holders.recompiled_models import RecompiledModels
from xleak.shell.holders.retraced_functions import RetracedFunctions
from xleak.shell.holders.tf_sessions import OpenSessions


class OfTensorFlow:
    """Made when Keras or TensorFlow is imported first."""

    def __init__(self) -> None:
        self.models = KerasModels()
        self.passes = KerasPasses()
        self.retraced = RetracedFunctions()
        self.recompiled = RecompiledModels()
        self.sessions = OpenSessions()
        self.graph = DefaultGraph()

    def after_cell(self, index: int, source: str) -> list[bool]:
        """Whether one of them has a reason to search."""
        noticed = []
        if "keras" in sys.modules:
            noticed += [
                self.models.after_cell(index, source),
                self.passes.after_cell(index, source),
            ]
        if "tensorflow" in sys.modules:
            noticed += [
                self.retraced.after_cell(index),
                self.recompiled.after_cell(index, source),
                self.sessions.after_cell(index, source),
                self.graph.after_cell(index, source),
            ]
        return noticed
