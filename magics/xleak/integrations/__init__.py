"""The watcher as a callback of training frameworks, a module each; import the one that you use."""
