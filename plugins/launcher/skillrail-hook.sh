#!/bin/sh
# Written by skillrail hooks install. Agent clients call it before every prompt.
entry=@ENTRY@
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE
case "$HOME" in /*) ;; *) HOME= ;; esac
try() {
  program=$1
  shift
  if [ -x "$program" ]; then exec "$program" --single-threaded "$entry" "$@"; fi
}
# Looks on the path, but not in the project: npx and npm put folders of the project first.
search() {
  project=$(pwd -P)
  folder=$project
  while [ -n "$folder" ] && [ "$folder" != "$HOME" ]; do
    if [ -e "$folder/.git" ]; then project=$folder; fi
    folder=${folder%/*}
  done
  case $HOME/ in "$project"/*) project=/dev/null ;; esac
  set -f
  IFS=:
  for folder in $PATH; do
    case $folder/ in
      "$project"/* | */node_modules/.bin/*) ;;
      /*) try "$folder/node" "$@" ;;
    esac
  done
  set +f
  unset IFS
}
if [ -f "$entry" ]; then
  try @NODE@ "$@"
  search "$@"
  for found in "$HOME"/.volta/bin/node "$HOME"/.local/share/mise/shims/node "$HOME"/.asdf/shims/node \
    "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.local/share/fnm/node-versions/*/installation/bin/node \
    /usr/local/bin/node /opt/homebrew/bin/node /usr/bin/node; do
    try "$found" "$@"
  done
  echo "skillrail: no Node was found, so no references were injected; install Node 20 or newer" >&2
else
  echo "skillrail: $entry is gone, so no references were injected; run: npx skillrail hooks install" >&2
fi
cat >/dev/null
exit 0
