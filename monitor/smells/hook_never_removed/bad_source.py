# %% activations with their graphs
import torchvision

backbone = torchvision.models.resnet18()
seen = []
backbone.layer3.register_forward_hook(lambda m, i, o: seen.append(o))  # lint: XL107
for image in gallery:
    backbone(image)

# %% one more in each iteration, with a handle that nobody uses
def watch(model, batch):
    handle = model.fc.register_forward_pre_hook(show)  # lint: XL107
    return model(batch)

for batch in loader:
    watch(backbone, batch)

# %% in a class, by a nested function
class Extractor:
    def __init__(self, model):
        self.model, self.maps = model, []

        def keep(module, inputs, output):
            self.maps.append(output)

        self.model.layer4.register_forward_hook(keep)  # lint: XL107

# %% on a model of an earlier cell
def shape(module, inputs, output):
    print(output.shape)

backbone.conv1.register_forward_hook(shape)  # lint: XL107
