# %% in a loop, at the top
errors = {}
broken = []
for path in paths:
    try:
        parse(path)
    except (OSError, ValueError) as err:
        broken.append(err)  # lint: XL403
        errors[path] = err  # lint: XL403

# %% by an object, with more beside it
class Downloads:
    def __init__(self):
        self.failed = []

    def fetch(self, urls):
        for url in urls:
            try:
                self.get(url)
            except Exception as exc:
                self.failed.append((url, exc))  # lint: XL403

# %% the triple of the interpreter
import sys as system

def guarded(task):
    try:
        return task()
    except Exception:
        kind, value, trace = system.exc_info()  # lint: XL403
        return value.args

# %% raised behind the loop
def fetched(url):
    last = None
    for attempt in range(3):
        try:
            return download(url)
        except OSError as problem:
            last = problem
    raise last  # lint: XL403
