"""What xleak releases by itself, by the policy `auto`: docs/agent.md says what, when and what never."""
