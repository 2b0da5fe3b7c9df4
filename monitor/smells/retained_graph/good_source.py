# %% a network that tells real from made, then the one that makes
for real in loader:
    fake = generator(noise)
    judged = critic(real).mean() - critic(fake).mean()
    judged.backward(retain_graph=True)
    fooled = -critic(fake).mean()
    fooled.backward()

# %% the rows of a Jacobian
out = net(x)
for column in range(out.shape[1]):
    out[:, column].sum().backward(retain_graph=True)

# %% a second pass in another method
class Model:
    def backward_judge(self):
        self.loss_judge = self.criterion(self.judge(self.fake))
        self.loss_judge.backward(retain_graph=True)

    def backward_maker(self):
        self.loss_maker = -self.judge(self.fake).mean()
        self.loss_maker.backward()

# %% a state from the iteration before
state = start
for batch in loader:
    out, state = rnn(batch, state)
    criterion(out, state).backward(retain_graph=keep)

# %% the loss of someone else
def led_back(loss):
    loss.backward(retain_graph=True)
