# %% a
x = 1
# %% [markdown]
# t
#%%
y
