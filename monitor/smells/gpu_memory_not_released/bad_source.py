# %% the last batch stays
import torch

device = torch.device("cuda")
net = torch.nn.Linear(4, 2).to(device)
for page in scans:  # lint: XL601
    page = page.to(device)
    texts.append(decode(net(page)))

# %% by another name, from a list
for picture in pictures:  # lint: XL601
    on_gpu = picture.cuda()
    marks = net(on_gpu).argmax(1)
    found.append(marks.tolist())

# %% in nested loops, one finding for the outer
for epoch in range(3):  # lint: XL601
    for rows in table:
        rows_there = torch.as_tensor(rows).to("cuda")
        total += net(rows_there).sum().item()
