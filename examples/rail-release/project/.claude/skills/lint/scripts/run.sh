#!/bin/sh
set -e
for file in src/*.mjs test/*.mjs; do node --check "$file"; done
echo "the syntax of all sources is valid"
