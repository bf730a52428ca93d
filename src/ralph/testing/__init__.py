"""PROVE: doubles and contract suites, shipped with the product."""
