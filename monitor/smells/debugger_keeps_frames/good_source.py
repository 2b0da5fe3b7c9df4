# %% turned off
%pdb off

# %% a function of that name
def set_trace(level):
    return level

set_trace(2)

# %% a method of that name
plan.breakpoint()
