import unittest

import tally


class PackageTest(unittest.TestCase):
    def test_it_says_what_it_does(self):
        self.assertIn("ledger", tally.__doc__)
