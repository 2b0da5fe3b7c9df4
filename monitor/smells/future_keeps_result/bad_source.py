# %% submitted in a loop, by name of the picture
from concurrent import futures

with futures.ProcessPoolExecutor() as pool:
    jobs = {}
    for path in paths:
        jobs[path] = pool.submit(render, path)  # lint: XL413
    pictures = {path: job.result() for path, job in jobs.items()}
