import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, runInProcess } from '../../run-in-process.ts'
import { serverProject } from '../../fixtures/server-project.ts'

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

/** A trusted project with one server, `things`. */
export function toolProject(): ToolProject {
  const { root, home, things, configure, calls } = serverProject()
  configure({ things })
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { things } }))
  return {
    root,
    home,
    calls,
    runUntrusted: (words) => runInProcess(words, { cwd: root, home }),
    run: (words, stdin, waits = '0,0') => {
      const env = { SKILLRAIL_TOOLS_RETRY_WAITS: waits }
      return runInProcess(['--trust-workspace', ...words], { cwd: root, home, stdin, env })
    },
  }
}
