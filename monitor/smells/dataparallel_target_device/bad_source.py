# %% neither moved, nor its target
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
ce = nn.CrossEntropyLoss()
photos = [(torch.rand(4, 8), torch.randint(2, (4,))) for number in range(2)]

multi = nn.DataParallel(nn.Linear(8, 2)).to(device)
for image, label in photos:
    error = ce(multi(image.to(device)), label)  # lint: XL608

# %% by the name of the class, over two lines
from torch.nn import DataParallel as Spread

swin = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
spread = Spread(swin)  # lint: XL608

# %% in a function, the target by its keyword
import torch.nn.functional as F

def train(batches):
    model = nn.DataParallel(nn.Linear(8, 2).to(device))
    for image, label in batches:
        image = image.to(device)
        scores = model(image)
        loss = F.cross_entropy(scores, target=label)  # lint: XL608
        loss.backward()

train(photos)
