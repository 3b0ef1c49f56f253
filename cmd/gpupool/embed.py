#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns files into C strings: embed.py OUTPUT FILE... gives `embedded_files[]` of name and text."""
import os
import sys

output, files = sys.argv[1], sys.argv[2:]
with open(output, "w", encoding="utf-8") as out:
    out.write('#include "embedded.h"\n\nconst struct embedded_file embedded_files[] = {\n')
    for path in files:
        with open(path, encoding="utf-8") as source:
            lines = source.read().splitlines(keepends=True)
        out.write('\t{ "%s",\n' % os.path.basename(path))
        for line in lines:
            text = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            out.write('\t  "%s"\n' % text)
        out.write("\t},\n")
    out.write("\t{ 0, 0 },\n};\n")
