"""What `%xleak` does, a module a subcommand: `HELP`, what each form does, and `run(arguments)`, which
raises UsageError."""
