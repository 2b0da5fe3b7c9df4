# %% looked at frame by frame
import sys
import traceback

for frame, line in traceback.walk_tb(sys.last_traceback):  # lint: XL402
    print(frame.f_locals.keys(), line)

# %% kept
error = sys.last_value  # lint: XL402

# %% shown again
%tb  # lint: XL402
