# %% fine-tuned below
import torch
import torchvision

net = torchvision.models.resnet50(weights="DEFAULT")
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for tile in mosaic:
    net(tile).sum().backward()
    optimizer.step()
    optimizer.zero_grad()

# %% text is generated without gradients
from transformers import AutoModelForCausalLM, pipeline

writer = AutoModelForCausalLM.from_pretrained("some/model")
texts = [writer.generate(**prompt) for prompt in prompts]
judge = pipeline("ner")
names = [judge(text) for text in texts]
