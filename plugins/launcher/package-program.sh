#!/bin/sh
# The command line of Skillrail in a package of an agent client.
file=$0
while [ -h "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=${file%/*}/$link ;; esac
done
entry=${file%/*}/../dist/cli/bin.cjs
try() {
  program=$1
  shift
  if [ -x "$program" ]; then exec "$program" "$entry" "$@"; fi
}
@SEARCH@
echo "skillrail finds no Node, which it needs in version 22.18 or newer: https://nodejs.org" >&2
exit 127
