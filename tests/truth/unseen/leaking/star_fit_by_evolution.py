# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "scipy", "matplotlib"]
# thread = "Stack Overflow questions of about 2013 to 2019: how to see the steps of scipy.optimize, a callback appends everything of every iteration, on large models the memory fills up"
# leaked = "24 * 288 * 288 * 4"
# cause_cell = 5
# cause_line = "steps.append({"
# holder = ["steps"]
# repair = "steps.clear()"
# ///
# %% [markdown]
# # Where is the companion? Fit of a double star
# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import differential_evolution, minimize
# %%
N = 288
yy, xx = np.mgrid[:N, :N].astype(float)

def render(p):
    x1, y1, x2, y2, ratio, s = p
    a = np.exp(-((xx - x1) ** 2 + (yy - y1) ** 2) / (2 * s**2))
    b = np.exp(-((xx - x2) ** 2 + (yy - y2) ** 2) / (2 * s**2))
    return a + ratio * b
# %%
rng = np.random.default_rng(4)
truth = np.array([140.0, 150.0, 171.0, 133.0, 0.35, 9.0])
image = render(truth) + 0.05 * rng.normal(size=(N, N))
hot = rng.random((N, N)) < 1e-3
image[hot] += 2.0
# %% [markdown]
# Hot pixels: replaced by the median of the row
# %%
row_med = np.median(image, axis=1, keepdims=True)
image = np.where(image - row_med > 1.8, row_med, image)
bounds = [(100, 190), (100, 190), (100, 190), (100, 190), (0.05, 0.9), (4, 15)]
# %%
steps = []

def cost(p):
    return float(((render(p) - image) ** 2).sum())

def on_step(xk, convergence):
    steps.append({"x": xk.copy(), "conv": convergence, "model": render(xk).astype(np.float32)})
    if len(steps) % 8 == 0:
        print(len(steps), f"{cost(xk):.2f}")
# %%
res = differential_evolution(cost, bounds, maxiter=24, popsize=5, tol=0, atol=0, polish=False, seed=2, callback=on_step)
print(res.nit, res.x.round(2))
# %%
fine = minimize(cost, res.x, method="Nelder-Mead", options={"maxiter": 60})
best = fine.x
resid = image - render(best)
# %%
fig, axes = plt.subplots(1, 3, figsize=(8, 2.6))
for a, im in zip(axes, (image, render(best), resid)):
    a.imshow(im[90:200, 90:200], origin="lower")
    a.axis("off")
fig.savefig("fit.png", dpi=50)
plt.close(fig)
# %%
sep = np.hypot(best[2] - best[0], best[3] - best[1])
angle = np.degrees(np.arctan2(best[3] - best[1], best[2] - best[0]))
print(f"separation {sep:.2f} px, angle {angle:.1f}")
# %%
boot = []
for k in range(20):
    noise = resid.ravel()[rng.permutation(resid.size)[: N * N]].reshape(N, N)
    boot.append(float(((noise[:64, :64]) ** 2).mean()))
sigma = np.sqrt(np.mean(boot))
# %%
{"sep": round(float(sep), 2), "angle": round(float(angle), 1), "chi2": round(float((resid**2).sum() / sigma**2 / N**2), 3)}
