# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy", "sklearn"]
# thread = "GitHub, openavmkit, 2025: a large frame that served to choose the variables is not needed afterwards and is deleted to save RAM"
# leaked = "8 * 24_000 * (1 + 20 + 20 + 20 * 19 // 2)"
# cause_cell = 2
# cause_line = "Xp = poly.fit_transform(X)"
# holder = ["Xp"]
# repair = "del Xp"
# ///
# %%
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

rng = np.random.default_rng(8)
X = rng.normal(size=(24_000, 20))
y = X[:, 0] * X[:, 3] - 0.5 * X[:, 7] ** 2 + rng.normal(0, 0.3, len(X))
# %%
poly = PolynomialFeatures(2)
Xp = poly.fit_transform(X)
model = Ridge(1.0).fit(Xp[:20_000], y[:20_000])
print("R2", model.score(Xp[20_000:], y[20_000:]))
# %%
order = np.argsort(-np.abs(model.coef_))[:4]
print(dict(zip(poly.get_feature_names_out()[order], model.coef_[order].round(2))))
# %%
grid = np.tile(X.mean(0), (5, 1))
grid[:, 7] = np.linspace(-2, 2, 5)
print(model.predict(poly.transform(grid)).round(2), y.mean())
