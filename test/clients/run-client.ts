import { spawn } from 'node:child_process'
import type { InstalledClient } from './cache.ts'
import type { TestHome } from './home.ts'

export interface ClientRun {
  code: number | null
  output: string
  durationMs: number
}

/**
 * Starts a client with nothing of this machine's environment, without standard input.
 *
 * @param onStart gets a function that sends a signal to the client and everything that it started
 */
export async function runClient(
  client: InstalledClient,
  args: readonly string[],
  { home, project, path }: TestHome,
  environment: Readonly<Record<string, string>>,
  timeoutMs = 150_000,
  onStart: (send: (signal: NodeJS.Signals) => void) => void = () => undefined,
): Promise<ClientRun> {
  const started = performance.now()
  const child = spawn(client.program, args, {
    cwd: project,
    env: { PATH: path, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  onStart((signal) => signalGroup(child.pid, signal))
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), timeoutMs)
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('exit', (status) => resolve(status))
  })
  clearTimeout(timer)
  // A process that a client left running would keep the home in use.
  signalGroup(child.pid, 'SIGKILL')
  return { code, output, durationMs: performance.now() - started }
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Everything has ended already.
  }
}
