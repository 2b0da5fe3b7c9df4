# %% closed by a helper
import matplotlib.pyplot as plt

def save_and_close(fig, path):
    fig.savefig(path)
    plt.close(fig)

for star in catalogue:
    fig, ax = plt.subplots()
    ax.imshow(star.cutout)
    save_and_close(fig, star.path)

# %% shown one by one
for star in catalogue:
    plt.figure()
    plt.imshow(star.cutout)
    plt.show()

# %% always the same figure
for star in catalogue:
    plt.figure(1)
    plt.plot(star.spectrum)
    plt.savefig(star.path)

# %% a handful
for band in ("u", "g", "r"):
    plt.figure()
    plt.plot(spectra[band])
    plt.savefig(band)

# %% whoever called gets it
def portrait(star):
    fig, ax = plt.subplots()
    ax.imshow(star.cutout)
    return fig

for star in catalogue:
    page.savefig(portrait(star))

# %% one figure outside the loop
fig, ax = plt.subplots()
for star in catalogue:
    ax.clear()
    ax.imshow(star.cutout)
    fig.savefig(star.path)
