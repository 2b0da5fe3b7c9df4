"""Who keeps memory beside the user's names: found in the heap where a cell made it likely."""
