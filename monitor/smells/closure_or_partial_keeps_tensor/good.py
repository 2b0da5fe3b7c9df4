# %% a small result is captured
import torch

torch.set_num_threads(1)

def ranker(catalogue):
    nearest = (catalogue @ catalogue.T).argmax(1).tolist()
    return lambda item: nearest[item]

rankers = [ranker(torch.rand(600, 20)) for number in range(3)]

# %% the value has a name
bank = torch.rand(800, 800)

def scorer(rows):
    return lambda item: rows[item].sum()

score = scorer(bank)

# %% decorators
import functools

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper

@logged
@torch.no_grad()
def total(rows):
    return rows.sum()

result = total(bank).item()

# %% a module by design
def predictor(model):
    return lambda x: model(x).argmax(1)

predict = predictor(torch.nn.Linear(800, 700))
classes = predict(bank)

# %% a partial with small arguments
def pad(rows, value):
    return torch.stack([*rows, torch.full_like(rows[0], value)])

loader = torch.utils.data.DataLoader(
    [torch.rand(400) for number in range(900)],
    batch_size=300,
    collate_fn=functools.partial(pad, value=0),
)
shapes = [batch.shape for batch in loader]

# %% a generator that ended
def pieces(size):
    whole = torch.ones(size)
    for start in range(0, size, 100_000):
        yield whole[start].item()

values = list(pieces(400_000))

# %% called and dropped
order = sorted(range(10), key=lambda item: bank[item].sum().item())
value = ranker(torch.rand(900, 20))(3)
