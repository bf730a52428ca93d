"""For tests of agents: a scripted model, a contract suite and fixtures."""
