import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processesLeft, processesOf } from './processes.ts'
import type { ServerEntry } from './recipes.ts'

/** The program as users have it, made by `npm run build`. */
export const program: string =
  process.env['SKILLRAIL_PROGRAM'] ??
  fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url))

export interface CommandOptions {
  stdin?: string | undefined
  env?: Readonly<Record<string, string>> | undefined
}

export interface RunningCommand {
  pid: number
  kill(signal: NodeJS.Signals): void
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>
}

export type ServerProject = Awaited<ReturnType<typeof makeServerProject>>

/**
 * A trusted workspace with an `.mcp.json` and an empty home, and the command line in it. It is a
 * separate directory, without the environment of this machine and with the PATH of this Node.
 */
export async function makeServerProject(
  describe: (directory: string) => Readonly<Record<string, ServerEntry>>,
) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-servers-')))
  const directory = join(base, 'project')
  for (const name of ['project', 'home', 'tmp']) mkdirSync(join(base, name))
  const servers = describe(directory)
  writeFileSync(join(directory, '.mcp.json'), JSON.stringify({ mcpServers: servers }, null, 2))

  const environment = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: join(base, 'home'),
    TMPDIR: join(base, 'tmp'),
  }
  function start(args: readonly string[], { stdin = '', env }: CommandOptions = {}) {
    return startCommand(args, directory, { ...environment, ...env }, stdin)
  }

  const project = {
    directory,
    environment,
    start,
    async cli(args: readonly string[], options?: CommandOptions) {
      return await start(args, options).ended
    },
    /** The one JSON document that a command prints, and its exit code. */
    async json(args: readonly string[], options?: CommandOptions) {
      const { code, stdout, stderr } = await start([...args, '--json'], options).ended
      try {
        return { code, stderr, answer: JSON.parse(stdout) }
      } catch {
        throw new Error(`${args.join(' ')} (${String(code)}) printed no JSON: ${stdout}${stderr}`)
      }
    },
    processes: () => processesOf(base),
    processesLeft: async () => await processesLeft(base),
    /** Ends the servers that are kept for it, and removes it. */
    async close() {
      await project.cli(['tools', 'serve', '--stop'])
      const left = await processesLeft(base)
      for (const { pid } of processesOf(base)) process.kill(pid, 'SIGKILL')
      rmSync(base, { recursive: true, force: true, maxRetries: 3 })
      if (left.length > 0) throw new Error(`processes were left:\n${left.join('\n')}`)
    },
  }
  const trusted = await project.cli(['trust', '--yes'])
  if (trusted.code !== 0) throw new Error(`the workspace was not trusted: ${trusted.stderr}`)
  return project
}

function startCommand(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  stdin: string,
): RunningCommand {
  const child = spawn(process.execPath, [program, ...args], { cwd, env })
  child.stdin.on('error', () => undefined).end(stdin)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }))
    }),
  }
}
