import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CliResult, runCli } from '../../cli/run-cli.ts'

const program = fileURLToPath(new URL('../../fixtures/programs/tool-server.ts', import.meta.url))

export interface ToolProject {
  root: string
  home: string
  /** The calls that reached the server, in order. */
  calls(): string[]
  /** Without waits between attempts, unless `waits` says otherwise. */
  run(args: readonly string[], stdin?: string, waits?: string): Promise<CliResult>
  /** In a workspace that was never trusted; the same server is the user's own too. */
  runUntrusted(args: readonly string[]): Promise<CliResult>
}

/** A trusted project with one server of its own, `things`. */
export function toolProject(): ToolProject {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'tool-calls-')))
  const root = join(directory, 'project')
  const home = join(directory, 'home')
  const record = join(directory, 'calls')
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(home)
  const args = ['--disable-warning=ExperimentalWarning', program, record]
  const servers = JSON.stringify({ mcpServers: { things: { command: process.execPath, args } } })
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor', 'mcp.json'), servers)
  writeFileSync(join(root, '.mcp.json'), servers)
  return {
    root,
    home,
    calls: () => (existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : []),
    runUntrusted: (words) => runCli(words, { cwd: root, home }),
    run: (words, stdin, waits = '0,0') => {
      const env = { SKILLRAIL_TOOLS_RETRY_WAITS: waits }
      return runCli(['--trust-workspace', ...words], { cwd: root, home, stdin, env })
    },
  }
}
