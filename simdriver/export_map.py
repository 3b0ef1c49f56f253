#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Linker map of a library for one driver branch: export_map.py SYMBOLS.def BRANCH > library.map

The names of the rows whose `since` (second to last column) is at most BRANCH are global, all others
local. The node has no name: NVIDIA's libraries define no symbol versions.
"""
import re
import sys

ROW = re.compile(r"^[A-Z]+_SYMBOL\((.*)\)$")


def main():
    path, branch = sys.argv[1], int(sys.argv[2])
    names = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = ROW.match(line.strip())
            if match:
                base, version, _, since, _ = [x.strip() for x in match.group(1).split(",")]
                if int(since) <= branch:
                    names.append(base + version)
    print("{\n\tglobal:")
    for name in names:
        print(f"\t\t{name};")
    print("\tlocal:\n\t\t*;\n};")


main()
