import { spawn } from 'node:child_process'
import type { InstalledClient } from './cache.ts'
import type { TestHome } from './home.ts'

export interface ClientRun {
  code: number | null
  output: string
  durationMs: number
}

/** Starts a client with nothing of this machine's environment, without standard input. */
export async function runClient(
  client: InstalledClient,
  args: readonly string[],
  { home, project, path }: TestHome,
  environment: Readonly<Record<string, string>>,
  timeoutMs = 90_000,
): Promise<ClientRun> {
  const started = performance.now()
  const child = spawn(client.program, args, {
    cwd: project,
    env: { PATH: path, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  const timer = setTimeout(() => endGroup(child.pid), timeoutMs)
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('exit', (status) => resolve(status))
  })
  clearTimeout(timer)
  endGroup(child.pid)
  return { code, output, durationMs: performance.now() - started }
}

/** What a client left running would hold the home open. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Everything has ended already.
  }
}
