# %% caught where it is expected
import sys
import traceback

try:
    fold(sequence)
except RuntimeError as error:
    traceback.print_exception(error)

# %% its text
try:
    fold(sequence)
except RuntimeError:
    text = traceback.format_exc()

# %% its frames are let go
traceback.clear_frames(sys.last_traceback)
