# /// truth
# question = "unused"
# style = "short"
# needs = ["torch"]
# thread = "Look-alike of the lists of large variables that notebooks print: the table of vectors is not named for a while, and the last cell reads it"
# ///
# %%
import torch

torch.manual_seed(3)
words = [f"w{i:05d}" for i in range(30_000)]
emb = torch.randn(30_000, 160).mul_(torch.linspace(2, 0.5, 160))
freq = torch.arange(1, 30_001).float().pow(-1.1)
# %%
freq /= freq.sum()
print("half of all tokens:", int((freq.cumsum(0) < 0.5).sum()), "words")
# %%
draw = torch.multinomial(freq, 2_000, replacement=True)
print("types in a sample:", draw.unique().numel())
# %%
query = draw[0].item()
# %%
sim = torch.nn.functional.cosine_similarity(emb[query : query + 1], emb)
print(words[query], [words[i] for i in sim.topk(4).indices[1:]])
