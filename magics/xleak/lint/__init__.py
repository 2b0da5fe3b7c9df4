"""`xleak lint`: what the source of notebooks and scripts says, without running them."""
