# SPDX-License-Identifier: MIT
"""What the tests of the Python module share: a test that has a file in a folder of its own."""
import os
import tempfile
import unittest


class FileCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "data")

    def put(self, data):
        """Makes the file, with these bytes."""
        with open(self.path, "wb") as file:
            file.write(data)
