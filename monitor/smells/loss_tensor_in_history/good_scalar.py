# %% a scalar that differentiates by itself, and who made it
class Scalar:
    def __init__(self, data, made_of=()):
        self.data, self.grad, self.made_of = data, 0.0, made_of

    def __add__(self, other):
        return Scalar(self.data + other.data, (self, other))

    def backward(self):
        self.grad = 1.0
        for part in self.made_of:
            part.grad += self.grad

# %% the ones that it was made of
def history(root):
    seen, ways = set(), set()

    def visit(scalar):
        if scalar not in seen:
            seen.add(scalar)
            for part in scalar.made_of:
                ways.add((part, scalar))
                visit(part)

    visit(root)
    return seen, ways

# %% led back
total = Scalar(1.0) + Scalar(2.0)
for step in range(100):
    total.backward()
    nodes, edges = history(total)
