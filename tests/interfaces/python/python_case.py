# SPDX-License-Identifier: MIT
"""The base class of the Python module's tests: each test has a file in a temporary folder."""
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
        """Writes the file, with these bytes as its contents."""
        with open(self.path, "wb") as file:
            file.write(data)
