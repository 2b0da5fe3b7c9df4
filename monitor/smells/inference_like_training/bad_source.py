# %% a pretrained network, by the name of its module
import torch
import torchvision

net = torchvision.models.resnet50(weights="DEFAULT").to("cuda")
for tile in mosaic:
    logits = net(prepare(tile).to("cuda"))  # lint: XL202
    print(logits.argmax().item())

# %% from the hub of models
from transformers import AutoModelForSequenceClassification as Classifier

judge = Classifier.from_pretrained("some/model")
labels = [judge(**tokens(text)).logits.argmax(-1).item() for text in texts]  # lint: XL202
