/** What a launcher starts. */
export interface LauncherTarget {
  /** The Node that installed it, tried first: clients started from a desktop have a poor PATH. */
  node: string
  /** The entry of the hook. */
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

/**
 * The launcher for Windows; not run by us. It finds the hook beside itself, because a script with a
 * name of other alphabets in it is read wrongly, and Node on the search path alone: the folder of a
 * project, where Windows looks first, may hold anything.
 *
 * @param entry relative to the directory of the launcher.
 */
export function windowsLauncher({ node, entry }: LauncherTarget): string {
  const system = '%SystemRoot%\\System32\\'
  const lines = [
    '@echo off',
    'rem Written by skillrail hooks install. Agent clients call it before every prompt.',
    'setlocal DisableDelayedExpansion',
    'set "NODE_OPTIONS="',
    'set "NODE_EXTRA_CA_CERTS="',
    'set "NODE_V8_COVERAGE="',
    `set "ENTRY=%~dp0${batchText(entry.replaceAll('/', '\\'))}"`,
    'if not exist "%ENTRY%" goto gone',
    `set "PROGRAM=${batchText(node)}"`,
    'if exist "%PROGRAM%" goto run',
    `for /f "delims=" %%n in ('${system}where.exe "$PATH:node.exe" 2^>nul') do (`,
    '  set "PROGRAM=%%n"',
    '  goto run',
    ')',
    'echo skillrail: no Node was found, so no references were injected; install Node 20 or newer 1>&2',
    'goto drain',
    ':gone',
    'echo skillrail: the hook is gone, so no references were injected; run: npx skillrail hooks install 1>&2',
    ':drain',
    `${system}findstr.exe "^" >nul`,
    'exit /b 0',
    ':run',
    '"%PROGRAM%" --single-threaded "%ENTRY%" %*',
    'exit /b 0',
  ]
  return `${lines.join('\r\n')}\r\n`
}

/** In a batch file a percent sign begins a variable, in quotes too. */
function batchText(text: string): string {
  return text.replaceAll('%', '%%')
}

export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
