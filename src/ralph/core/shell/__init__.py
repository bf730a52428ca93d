"""Shell text as a tree: what the policy looks at. Read, never run."""
