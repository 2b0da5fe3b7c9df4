# %% the flag that hides the error, and no step
import torch
import torch.nn as nn

class Composer(nn.Module):
    def forward(self, notes, state):
        out, state = self.rnn(notes, state)
        return self.head(out), state

composer = Composer()
state = None
for notes in score_loader:
    guess, state = composer(notes[:-1], state)  # lint: XL208
    nn.functional.cross_entropy(guess, notes[1:]).backward(retain_graph=True)

# %% a pair, in a function that is given the model
def evaluate(model, loader, h, c):
    print(model.state_dict().keys())
    right = 0
    for batch in loader:
        scores, (h, c) = model(batch, (h, c))  # lint: XL208
        right += (scores.argmax(1) == batch.y).sum().item()
    return right

# %% by keyword
memory = None
for step, batch in enumerate(train_loader):
    logits, memory = composer(batch, state=memory)  # lint: XL208
    print(step, logits.argmax(-1))
