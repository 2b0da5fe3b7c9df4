"""The xleak kernel: xeus-python's interpreter around IPython, watched natively."""
