"""Watches code outside of cells: steps of a loop, blocks, functions, tests."""
