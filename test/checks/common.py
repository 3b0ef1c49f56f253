# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the list of files, C without comments, and the TAP frame.

How to add a check: an executable check_<what> here that defines `findings(tree)`, which returns one
sentence per broken place, and at least one negative control: a small broken tree that must turn red.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tree:
    """A source tree: the real one, or the fixture of a negative control."""

    def __init__(self, root):
        self.root = root

    def path(self, name):
        return os.path.join(self.root, name)

    def files(self, *endings):
        """Names of the files that are or would be committed, sorted; all, or those with ENDINGS."""
        if os.path.exists(self.path(".git")):
            listed = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard"],
                                    stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        else:
            listed = [os.path.relpath(os.path.join(folder, name), self.root)
                      for folder, _, names in os.walk(self.root) for name in names]
        return sorted(name for name in set(listed)
                      if os.path.isfile(self.path(name)) and (not endings or name.endswith(endings)))

    def c_files(self, *folders):
        """The C sources and headers below FOLDERS (everywhere without an argument)."""
        return [name for name in self.files(".c", ".h")
                if not folders or name.startswith(tuple(f + "/" for f in folders))]

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text, keep_strings=False):
    """C source with comments, and strings unless kept, blanked; line numbers stay."""
    def blank(match):
        token = match[0]
        if keep_strings and token[0] in "\"'":
            return token
        return re.sub(r"[^\n]", " ", token)
    return TOKEN.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def run(argv, **options):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **options).stdout.decode("utf-8", "replace")


class Absent(Exception):
    """The check cannot be made here; the text says why."""


def control(findings, title, files, expected, prepare=None):
    """A tree of FILES must give a finding that contains EXPECTED; None: it must give none."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        if prepare:
            prepare(folder)
        found = findings(Tree(folder))
    if expected is None:
        return found
    return [] if any(expected in line for line in found) else (
        ["the control found this instead of '%s':" % expected] + found)


def main(what, findings, controls):
    """Prints TAP. CONTROLS: rows (title, files, expected finding or None[, prepare])."""
    print("1..%d" % (1 + len(controls)))
    failed = False
    cases = [(what, lambda: findings(Tree(ROOT)))]
    for row in controls:
        cases.append(("control: " + row[0], lambda row=row: control(findings, *row)))
    for number, (title, case) in enumerate(cases, 1):
        try:
            found = case()
        except Absent as reason:
            print("ok %d - %s # SKIP %s" % (number, title, reason))
            continue
        failed = failed or bool(found)
        print("%s %d - %s" % ("not ok" if found else "ok", number, title))
        for line in found:
            print("# " + line)
    sys.exit(1 if failed else 0)
