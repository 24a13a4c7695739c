import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { endGroup, endOrphans, groupIsGone } from './process-group.ts'
import { exitOf, type ProcessEnd, type ProcessRequest } from './process.ts'

export interface KeptProcess {
  pid: number
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when the program has ended; its child processes may still run. */
  ended: Promise<ProcessEnd>
  /** Closes the input, waits 500 ms, then ends the group. Resolves when the group is empty. */
  end(): Promise<void>
}

/**
 * Starts a program in a new process group. The group ends at the latest when this process ends, even by
 * `kill -9`.
 * @param request `key` is unique and has no spaces: it identifies processes that left the group.
 * @throws {Error} from `spawn` if the program cannot be started.
 */
export async function startKeptProcess(
  request: Pick<ProcessRequest, 'file' | 'args' | 'cwd' | 'env'> & { key: string },
): Promise<KeptProcess> {
  const child = spawn(request.file, [...request.args], {
    cwd: request.cwd,
    env: { ...request.env, SKILLRAIL_IDEMPOTENCY_KEY: request.key },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined) throw await new Promise((resolve) => child.on('error', resolve))
  writeToWatchdog(`+ ${pid} ${request.key}`)
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined)
  const ended = exitOf(child)
  const isGone = () => (child.exitCode !== null || child.signalCode !== null) && groupIsGone(pid)
  let ending: Promise<void> | undefined
  const end = async (): Promise<void> => {
    stdin.end()
    await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
    if (!isGone()) await endGroup(pid, isGone)
    await ended
    endOrphans(new Set([request.key]))
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    writeToWatchdog(`- ${pid}`)
  }
  return { pid, stdin, stdout, stderr, ended, end: () => (ending ??= end()) }
}

const graceMs = 500

/**
 * Sends the watchdog of this process, a small shell, the groups to watch. When its input ends, this
 * process is dead, perhaps by `kill -9`. The watchdog then sends the groups TERM, and KILL after 2 s. On
 * Linux it also kills processes that left a group, by their idempotency key.
 */
function writeToWatchdog(line: `+ ${number} ${string}` | `- ${number}`): void {
  if (process.platform === 'win32') return
  input ??= startWatchdog()
  input.write(`${line}\n`)
}

let input: Writable | undefined

function startWatchdog(): Writable {
  const child = spawn('/bin/sh', ['-c', watchdogProgram, 'skillrail-guard'], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C at the terminal must not end the watchdog.
    detached: true,
  })
  child.on('error', () => undefined)
  // If the watchdog was killed, the next group starts a new one.
  child.on('exit', () => (input = undefined))
  child.stdin.on('error', () => undefined)
  // The watchdog must not keep this process alive. Its pipe has a separate handle.
  child.unref()
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return child.stdin
}

const watchdogProgram = String.raw`
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
