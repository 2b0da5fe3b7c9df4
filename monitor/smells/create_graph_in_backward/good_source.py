# %% the gradients go in the same iteration
for batch in loader:
    penalty(model, batch).backward(create_graph=True)
    optimizer.step()
    optimizer.zero_grad()

# %% they are set to None by hand
for batch in loader:
    penalty(model, batch).backward(create_graph=True)
    for weight in model.parameters():
        weight.grad = None

# %% whether there is a graph is decided elsewhere
loss.backward(create_graph=second_order)
