import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/** Ends process groups when this process is gone, however that came. */
export interface Guard {
  watch(group: number, key: string): void
  forget(group: number): void
}

/**
 * The guard of this process: a small shell that reads which groups to watch. The end of its input
 * means that we are dead, by `kill -9` even; then the groups get TERM, and KILL after 2 s, as does
 * whatever carries the idempotency key of one of them and has left its group (Linux).
 */
export function processGuard(): Guard {
  if (process.platform === 'win32') return { watch: () => undefined, forget: () => undefined }
  input ??= startGuard()
  const tell = (line: string): void => void input?.write(`${line}\n`)
  return {
    watch: (group, key) => tell(`+ ${group} ${key}`),
    forget: (group) => tell(`- ${group}`),
  }
}

let input: Writable | undefined

function startGuard(): Writable {
  const child = spawn('/bin/sh', ['-c', guardProgram, 'skillrail-guard'], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C at the terminal is not for the guard.
    detached: true,
  })
  child.on('error', () => undefined)
  // Should somebody end the guard, the next group gets a new one.
  child.on('exit', () => (input = undefined))
  child.stdin.on('error', () => undefined)
  // It must not keep this process alive; its pipe has a handle of its own.
  child.unref()
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return child.stdin
}

const guardProgram = String.raw`
groups=
while read -r verb group key; do
  rest=
  for entry in $groups; do
    [ "$entry" != "\${entry#"$group":}" ] || rest="$rest $entry"
  done
  groups=$rest
  [ "$verb" = - ] || groups="$groups $group:$key"
done
[ -n "$groups" ] || exit 0
for entry in $groups; do kill -s TERM -- "-\${entry%%:*}"; done
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  alive=
  for entry in $groups; do kill -s 0 -- "-\${entry%%:*}" && alive=yes; done
  [ -n "$alive" ] || break
  sleep 0.1
done
for entry in $groups; do kill -s KILL -- "-\${entry%%:*}"; done
for entry in $groups; do
  grep -lsFzx "SKILLRAIL_IDEMPOTENCY_KEY=\${entry#*:}" /proc/[0-9]*/environ |
    while IFS=/ read -r empty proc pid file; do kill -s KILL "$pid"; done
done
`.replaceAll('\\$', '$')
