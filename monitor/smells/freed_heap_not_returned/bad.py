# %% many rows below one that stays
rows = [bytearray(8000) for number in range(45_000)]
summary = bytearray(8000)
rows = None

# %% the next cell needs none of it  # expect: XL630
total = sum(summary)

# %% returned
import xleak

steps = xleak.release_cache()

# %% arrays in a dictionary
import numpy as np

tables = {number: np.zeros(4000) for number in range(12_000)}
means = [tables[number].mean() for number in range(12_000)]
newest = np.zeros(4000)

# %% deleted by the cell after it
del tables

# %% and not used by the third  # expect: XL630
largest = max(means)

# %% returned again
steps = xleak.release_cache()

# %% texts that were only read
def read():
    pages = [chr(65 + number % 26) * 6000 for number in range(60_000)]
    return len(pages), "end" * 2000

count, last = read()

# %% something else  # expect: XL630
words = last.split("n")
