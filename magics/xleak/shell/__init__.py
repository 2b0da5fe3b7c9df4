"""What lives beside one IPython shell: the watcher of its cells and what it can release."""
