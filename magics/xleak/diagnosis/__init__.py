"""The diagnosis of `%leakcheck --diagnose`: questions in the order in which a person would ask them, each
answered by what was measured already."""
