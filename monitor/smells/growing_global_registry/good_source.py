# %% by name: a new one takes the place of the former
known = {}

class Stage:
    def __init__(self, name):
        known[name] = self

# %% classes
class Meta(type):
    classes = []

    def __init__(cls, name, bases, namespace):
        Meta.classes.append(cls)

# %% the object's own list
class Tree:
    def __init__(self, parent=None):
        self.children = []
        if parent is not None:
            parent.children.append(self)

# %% emptied between runs
probes = []

class Probe:
    def __init__(self):
        probes.append(self)

probes.clear()
