# %% saved and never closed
import matplotlib.pyplot as plt

for star in catalogue:
    fig, ax = plt.subplots(figsize=(12, 8))  # lint: XL405
    ax.imshow(star.cutout)
    fig.savefig(f"{star.id}.png")

# %% by a function, and by the name of the function
from matplotlib.pyplot import figure, plot, savefig

def portrait(star):
    figure()  # lint: XL405
    plot(star.spectrum)
    savefig(star.path)

while queue:
    portrait(queue.pop())

# %% seaborn's own figures, of a method
import seaborn as sns

class Report:
    def draw(self, tables):
        for name, table in tables.items():
            grid = sns.pairplot(table)  # lint: XL405
            grid.savefig(name)
