import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { endGroup, endOrphans, groupIsGone } from './process-group.ts'
import { exitOf, type ProcessRequest } from './process.ts'

export type KeptProcess = Awaited<ReturnType<typeof startKeptProcess>>

/**
 * Starts a program in a process group of its own that ends with us at the latest, whatever ends us.
 * @param request `key` is one of a kind, without spaces: by it what left the group is found again.
 * @throws {Error} of `spawn` where it cannot be started.
 */
export async function startKeptProcess(
  request: Pick<ProcessRequest, 'file' | 'args' | 'cwd' | 'env'> & { key: string },
) {
  const child = spawn(request.file, [...request.args], {
    cwd: request.cwd,
    env: { ...request.env, SKILLRAIL_IDEMPOTENCY_KEY: request.key },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined) throw await new Promise((resolve) => child.on('error', resolve))
  tellGuard(`+ ${pid} ${request.key}`)
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined)
  // What it started may still run.
  const ended = exitOf(child)
  const isGone = () => (child.exitCode !== null || child.signalCode !== null) && groupIsGone(pid)
  let ending: Promise<void> | undefined
  /** Closes its input, waits 500 ms, then ends its group. Resolves when nothing of it is left. */
  const end = async (): Promise<void> => {
    stdin.end()
    await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
    if (!isGone()) await endGroup(pid, isGone)
    await ended
    endOrphans(new Set([request.key]))
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    tellGuard(`- ${pid}`)
  }
  return { pid, stdin, stdout, stderr, ended, end: () => (ending ??= end()) }
}

const graceMs = 500

/**
 * Tells the guard of this process, a small shell, which groups to watch. The end of its input means
 * that we are dead, by `kill -9` even; then the groups get TERM, and KILL after 2 s, as does whatever
 * carries the idempotency key of one of them and has left its group (Linux).
 */
function tellGuard(line: `+ ${number} ${string}` | `- ${number}`): void {
  if (process.platform === 'win32') return
  input ??= startGuard()
  input.write(`${line}\n`)
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
