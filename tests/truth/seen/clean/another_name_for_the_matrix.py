# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy", "sklearn"]
# thread = "Stack Overflow, 2013: del removes a name, not the object; the array is still wanted under its other name"
# ///
# %%
import gc
import numpy as np
from sklearn.decomposition import TruncatedSVD

raw = np.random.default_rng(0).random((20_000, 300))
raw -= raw.mean(axis=0)
X = raw
# %%
del raw
gc.collect()
# %%
svd = TruncatedSVD(4, random_state=0, n_iter=2)
Z = svd.fit_transform(X)
print(Z.shape, np.linalg.norm(X - svd.inverse_transform(Z)) / np.linalg.norm(X))
