# %% a class of another file
import torch
from models import Encoder

for sound, text in speech_loader:
    encoder = Encoder(80, 256).to(device)  # lint: XL306
    optimizer = torch.optim.Adam(encoder.parameters())  # lint: XL306
    optimizer.zero_grad()
    criterion(encoder(sound), text).backward()
    optimizer.step()
