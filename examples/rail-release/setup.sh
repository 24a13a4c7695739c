#!/bin/sh
# Makes the project in a folder, as a repository whose remote is a bare repository beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp -R "$here/project/." "$1"
cd "$1"
git init -q --bare -b main "$(pwd).git"
git init -q -b main
git config user.name Example
git config user.email example@example.com
git remote add origin "$(pwd).git"
git add -A
git commit -q -m 'Start the project'
git push -q origin main
