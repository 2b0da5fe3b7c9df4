# %% what it says
failed = []
for path in paths:
    try:
        parse(path)
    except ValueError as err:
        failed.append((path, str(err), err.args))

# %% its frames are let go
for path in paths:
    try:
        parse(path)
    except ValueError as err:
        err.__traceback__ = None
        failed.append(err)

# %% a list that goes with its function
def attempt(tasks):
    problems = []
    for task in tasks:
        try:
            return task()
        except Exception as problem:
            problems.append(problem)
    raise RuntimeError(f"{len(problems)} attempts failed")

# %% logged, and passed on
import logging

try:
    parse(path)
except ValueError as err:
    logging.exception("not parsed", exc_info=err)
    raise RuntimeError("no data") from err

# %% handed to whoever waits for it
try:
    future.set_result(parse(path))
except Exception as err:
    future.set_exception(err)

# %% another name for another library
try:
    number_types = (int, gmpy.mpz)
except NameError:
    number_types = int

# %% raised behind the loop, and the name goes
def fetched(url):
    last = None
    for attempt in range(3):
        try:
            return download(url)
        except OSError as problem:
            last = problem
    try:
        raise last
    finally:
        del last
