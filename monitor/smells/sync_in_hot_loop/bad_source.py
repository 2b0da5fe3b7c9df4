# %% two reads and an emptied cache
import torch
from torch import nn

torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(8, 2).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
ward = [(torch.rand(4, 8), torch.randint(2, (4,))) for number in range(3)]

for scan, label in ward:
    loss = criterion(net(scan.to(device)), label.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss)  # lint: XL609
    worst = loss.item()  # lint: XL609
    torch.cuda.empty_cache()  # lint: XL609

# %% in a function, by the name of the function
from torch.cuda import empty_cache as forget

def train(model, opt, batches):
    for scan, label in batches:
        opt.zero_grad()
        criterion(model(scan.to(device)), label.to(device)).backward()
        opt.step()
        forget()  # lint: XL609

train(net, optimizer, ward)

# %% in the inner loop
for epoch in range(2):
    for scan, label in ward:
        scores = net(scan.to(device))
        loss = criterion(scores, label.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history = loss.detach().cpu().numpy()  # lint: XL609
        guess = scores.argmax(1).tolist()  # lint: XL609
        total = float(loss)  # lint: XL609
