# %% through enumerate, in a function
import torch
import torch.utils.data as data

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def train(batches):
    for number, song in enumerate(batches):
        total = song.to(device).sum()

if __name__ == "__main__":
    train(data.DataLoader(torch.rand(8, 4), batch_size=4))  # lint: XL610
