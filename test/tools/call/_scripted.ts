import { type CliResult, runInProcess } from '../../run-in-process.ts'
import { serverProject } from '../../fixtures/server-project.ts'

export interface ScriptedTool {
  description?: string
  inputSchema?: object
  /** The text of the result as it is sent, which need not be one. */
  result?: string
}

export interface ScriptedProject {
  root: string
  home: string
  /** An entry of `.mcp.json`: a separate server with these tools. */
  server(name: string, tools: Readonly<Record<string, ScriptedTool>>): object
  /** Writes the servers of the project. */
  configure(servers: Readonly<Record<string, object>>): void
  /** The calls that reached a server, in order. */
  calls(): string[]
  /** Trusted, and without waits between attempts. */
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>
  /** As the workspace's own trust is. */
  runAsIs(args: readonly string[]): Promise<CliResult>
}

/** A project whose servers return scripted answers, and record their calls. */
export function scriptedProject(tools?: Readonly<Record<string, ScriptedTool>>): ScriptedProject {
  const { root, home, scripted, configure, calls } = serverProject()
  const project: ScriptedProject = {
    root,
    home,
    server: scripted,
    configure,
    calls,
    run: (words, env = {}) =>
      runInProcess(['--trust-workspace', ...words], {
        cwd: root,
        home,
        env: { SKILLRAIL_TOOLS_RETRY_WAITS: '0,0', ...env },
      }),
    runAsIs: (words) => runInProcess(words, { cwd: root, home }),
  }
  if (tools !== undefined) project.configure({ things: project.server('things', tools) })
  return project
}

/** The text of a result with one block of text. */
export function textResult(text: string): string {
  return JSON.stringify({ content: [{ type: 'text', text }] })
}
