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
if [ -f "$entry" ]; then
  try @NODE@ "$@"
  found=$(command -v node 2>/dev/null) && try "$found" "$@"
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
