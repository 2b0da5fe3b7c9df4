# %% led back by a helper
import torch

scaler = torch.amp.GradScaler()

class Trainer:
    def lead_back(self, loss):
        loss.backward()

    def fit(self, loader):
        for batch in loader:
            self.lead_back(scaler.scale(self.model(batch)))
            scaler.step(self.optimizer)
            scaler.update()

# %% a library that scales by itself
for batch in loader:
    accelerator.backward(model(batch).loss)
    scaler.step(optimizer)
    scaler.update()

# %% a schedule is no optimizer
for batch in loader:
    with torch.autocast("cuda"):
        loss = model(batch)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    opt_scheduler.step()
