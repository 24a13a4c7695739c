/** What a launcher starts. */
export interface LauncherTarget {
  /** The Node that installed it, tried first: clients started from a desktop have a poor PATH. */
  node: string
  /** The entry of the hook, absolute. */
  entry: string
}

/**
 * The launcher for POSIX shells. It becomes Node (`exec`), so that a client that ends it ends the
 * hook; it finds another Node where the first is gone; without any it says so and lets the prompt
 * through. One thread is enough, and cheaper to start. Variables that change how Node starts are for the user's programs, not for this one.
 */
export function posixLauncher({ node, entry }: LauncherTarget): string {
  return `#!/bin/sh
# Written by skillrail hooks install. Agent clients call it before every prompt.
entry=${shellQuote(entry)}
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE
try() {
  program=$1
  shift
  if [ -x "$program" ]; then exec "$program" --single-threaded "$entry" "$@"; fi
}
if [ -f "$entry" ]; then
  try ${shellQuote(node)} "$@"
  found=$(command -v node 2>/dev/null) && try "$found" "$@"
  for found in "$HOME"/.volta/bin/node "$HOME"/.local/share/mise/shims/node "$HOME"/.asdf/shims/node \\
    "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.local/share/fnm/node-versions/*/installation/bin/node \\
    /usr/local/bin/node /opt/homebrew/bin/node /usr/bin/node; do
    try "$found" "$@"
  done
  echo "skillrail: no Node was found, so no references were injected; install Node 20 or newer" >&2
else
  echo "skillrail: $entry is gone, so no references were injected; run: npx skillrail hooks install" >&2
fi
cat >/dev/null
exit 0
`
}

/** The launcher for Windows. Not run by us. */
export function windowsLauncher({ node, entry }: LauncherTarget): string {
  return `@echo off\r
rem Written by skillrail hooks install. Agent clients call it before every prompt.\r
set NODE_OPTIONS=\r
set NODE_EXTRA_CA_CERTS=\r
if exist "${node}" ("${node}" --single-threaded "${entry}" %* & exit /b 0)\r
where node >nul 2>nul && (node --single-threaded "${entry}" %* & exit /b 0)\r
echo skillrail: no Node was found, so no references were injected; install Node 20 or newer 1>&2\r
exit /b 0\r
`
}

export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
