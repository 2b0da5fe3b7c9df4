# %% in a function: gone when it returns
from concurrent.futures import ThreadPoolExecutor

def render_all(paths):
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(render, path) for path in paths]
        return [job.result() for job in jobs]

# %% emptied once read
with ThreadPoolExecutor() as pool:
    todo = [pool.submit(render, path) for path in paths]
    pictures = [job.result() for job in todo]
del todo

# %% a form that is submitted
answers = [form.submit(value) for value in values]
