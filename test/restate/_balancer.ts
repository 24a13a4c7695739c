import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether haproxy can be started here; it is a package of Debian. */
export const hasBalancer: boolean = spawnSync('haproxy', ['-v']).status === 0

export interface Balancer {
  /** The address that is registered with the server. */
  uri: string
  stop(): Promise<void>
}

/** haproxy before the workers at these ports: any TCP balancer that notices who is away will do. */
export function startBalancer(port: number, workers: readonly number[]): Balancer {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-balancer-'))
  const file = join(directory, 'haproxy.cfg')
  const servers = workers.map(
    (worker) => `  server w${worker} 127.0.0.1:${worker} check inter 300ms fall 1 rise 1`,
  )
  writeFileSync(
    file,
    `defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
listen workers
  bind 127.0.0.1:${port}
  balance roundrobin
  option redispatch
${servers.join('\n')}
`,
  )
  const child: ChildProcess = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve())
  })
  return {
    uri: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
