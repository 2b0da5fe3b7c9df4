# %% returned at once
import xleak

rows = [bytearray(8000) for number in range(45_000)]
summary = bytearray(8000)
rows = None
steps = xleak.release_cache()

# %% the next cell after it
total = sum(summary)

# %% a cell that is run again and again
rows = [bytearray(8000) for number in range(45_000)]
pinned = bytearray(8000)
rows = None

# %% a cell that is run again and again
rows = [bytearray(8000) for number in range(45_000)]
pinned = bytearray(8000)
rows = None

# %% a cell that is run again and again
rows = [bytearray(8000) for number in range(45_000)]
pinned = bytearray(8000)
rows = None

# %% the next cell takes the memory over
tables = [bytearray(8000) for number in range(44_000)]

# %% and keeps it
sizes = [len(table) for table in tables]

# %% a little freed below one that stays
tables = None
steps = xleak.release_cache()
few = [bytearray(8000) for number in range(15_000)]
above = bytearray(8000)
few = None

# %% is no matter
total = sum(above)
