// A smell without its README.md, bad.py and good.py.
