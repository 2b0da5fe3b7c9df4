# %% guarded
import logging

audit = logging.getLogger("audit")
if not audit.handlers:
    audit.addHandler(logging.StreamHandler())

# %% guarded: again
audit = logging.getLogger("audit")
if not audit.handlers:
    audit.addHandler(logging.StreamHandler())

# %% guarded: again
audit = logging.getLogger("audit")
if not audit.handlers:
    audit.addHandler(logging.StreamHandler())

# %% the usual setup
logging.basicConfig(level=logging.WARNING)

# %% the usual setup: again
logging.basicConfig(level=logging.WARNING)

# %% the usual setup by force
logging.basicConfig(level=logging.WARNING, force=True)

# %% the usual setup by force: again
logging.basicConfig(level=logging.WARNING, force=True)

# %% the former is replaced
survey = logging.getLogger("survey")
for former in survey.handlers[:]:
    survey.removeHandler(former)
survey.addHandler(logging.StreamHandler())

# %% the former is replaced: again
survey = logging.getLogger("survey")
for former in survey.handlers[:]:
    survey.removeHandler(former)
survey.addHandler(logging.StreamHandler())

# %% for the time of a cell
import io

capture = logging.StreamHandler(io.StringIO())
survey.addHandler(capture)
survey.warning("counted")
survey.removeHandler(capture)

# %% for the time of a cell: again
import io

capture = logging.StreamHandler(io.StringIO())
survey.addHandler(capture)
survey.warning("counted")
survey.removeHandler(capture)

# %% a logger for each run
import itertools

numbers = itertools.count()

# %% a logger for each run: run
run_log = logging.getLogger(f"run-{next(numbers)}")
run_log.addHandler(logging.StreamHandler())

# %% a logger for each run: run again
run_log = logging.getLogger(f"run-{next(numbers)}")
run_log.addHandler(logging.StreamHandler())

# %% two handlers for two places, once
plot_log = logging.getLogger("plots")
plot_log.addHandler(logging.StreamHandler())  # lint: XL406
plot_log.addHandler(logging.StreamHandler(io.StringIO()))  # lint: XL406

# %% several cells, one handler each
plot_log.addHandler(logging.NullHandler())
