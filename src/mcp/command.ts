import { once } from 'node:events'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Context, defineCommand, option, type Screen, Serving } from '#core/command'
import { exitCode, pointless, UsageError } from '#core/errors'
import { listening } from '#core/local-server'
import { readRegularFile } from '#core/read-files'
import { safeLine } from '#core/text'
import { writeFileAtomicSync } from '#core/write-files'
import type { ServedProject } from './served-project.ts'
import type { OfferedPrompt } from './skill-tools.ts'
import type { OfferedTool } from './tool.ts'

/** The tools, skills and prompts that a client can use; `mcp serve --list` prints them. */
interface Offer {
  tools: Omit<OfferedTool, 'run'>[]
  prompts: OfferedPrompt[]
  /** The names of the skills that the skills extension serves. */
  skills: string[]
  /** Why no skill is served. */
  reason: string | undefined
}

interface Served {
  address: string
  pid: number
  tokenFile?: string | undefined
}

export const command = defineCommand<Offer | Served>()({
  options: {
    http: option.flag('--http', 'serve Streamable HTTP on 127.0.0.1 instead of stdio'),
    port: option.integer('--port <port>', 'for --http; default: a free port', {
      least: 0,
      most: 65_535,
    }),
    tokenFile: option.text(
      '--token-file <file>',
      'for --http: a file that holds the token; created (0600) if missing',
    ),
    session: option.text('--session <id>', 'one session for all clients; default: one for each'),
    yes: option.flag('--yes', 'do not ask before calls that may change something'),
    list: option.flag('--list', 'show what would be served, and exit'),
    dryRun: option.flag('--dry-run', 'the same'),
  },
  details: `For an MCP client, where DIR is the project that has the package:
  {"mcpServers": {"skillrail": {"command": "npx", "args":
    ["--prefix", "DIR", "--no", "--",
     "skillrail", "-C", "DIR", "mcp", "serve"]}}}

Calls that can change something need approval in the client (elicitation) or --yes.`,
  examples: [
    'mcp serve --list',
    'mcp serve --http --port 8931 --token-file ~/.local/state/skillrail/mcp-token',
  ],
  protocol: ({ http, list, dryRun }) => !(http || list || dryRun),
  withoutJson: 'Leave out --json, or add --list or --http.',
  async run(context, { http, port, tokenFile, session, yes, list, dryRun }) {
    const option = port === undefined ? tokenFile && '--token-file' : '--port'
    if (!http && option) throw pointless(option, '--http', 'Add --http.')
    const { ServedProject } = await import('./served-project.ts')
    const project = new ServedProject(context, { yes, session })
    if (list || dryRun) return await offerOf(project)
    if (http) return await overHttp(context, project, { port, tokenFile })
    const { streams } = context
    if (!streams) return undefined
    const { stdin, stdout } = streams
    if (stdin.isTTY === true) {
      context.note('This waits for an MCP client, which starts it by itself. Ctrl-C ends it.')
    }
    const { serveStdio } = await import('./stdio.ts')
    await serveStdio(project, stdin, stdout)
    return undefined
  },
  render: (result, screen) =>
    'address' in result
      ? `Serving MCP on ${result.address}. Ctrl-C ends it.\n`
      : offerText(result, screen),
})

async function offerOf(project: ServedProject): Promise<Offer> {
  const { offeredTools } = await import('./create-server.ts')
  const { listPrompts } = await import('./skill-tools.ts')
  const { servedSkillNames } = await import('./skills-extension.ts')
  const tools = offeredTools(project).map(({ run: _run, ...tool }) => tool)
  const prompts = await listPrompts(project)
  const skills = await servedSkillNames(project)
  const reason =
    skills.length === 0 ? 'only trusted skills that a model may use are served' : undefined
  return { tools, prompts, skills, reason }
}

function offerText({ tools, prompts, skills, reason }: Offer, screen: Screen): string {
  const none = 'none: there is no skill that a user can start'
  const section = (title: string, rows: readonly string[][]): string =>
    `${title}\n${screen.table(rows.map(([name = '', ...rest]) => [`  ${safeLine(name)}`, ...rest]))}`
  return [
    section(
      'Tools',
      tools.map(({ name, title, annotations: { readOnlyHint } }) => [
        name,
        title,
        readOnlyHint ? 'reads' : 'acts',
      ]),
    ),
    section(
      'Prompts',
      prompts.length === 0
        ? [[none]]
        : prompts.map(({ name, description }) => [name, description.slice(0, 80)]),
    ),
    section(
      'Resources of the skills extension',
      reason === undefined
        ? skills.map((name) => [`skill://${name}/SKILL.md`])
        : [[`none: ${reason}`]],
    ),
  ].join('')
}

async function overHttp(
  context: Context,
  project: ServedProject,
  { port, tokenFile }: { port: number | undefined; tokenFile: string | undefined },
): Promise<Serving<Served>> {
  const { note, signal } = context
  const { newToken, serveHttp } = await import('./http.ts')
  const file = tokenFile === undefined ? undefined : resolve(context.runtime.cwd, tokenFile)
  const token = file === undefined ? newToken() : tokenInFile(file, newToken, context)
  const { address, close } = await listening(port, () => serveHttp({ project, token, port }))
  const printedToken = file === undefined ? token : `<the text of ${file}>`
  const headers = { Authorization: `Bearer ${printedToken}` }
  const server = { type: 'http', url: address, headers }
  note('For the configuration of a client, such as .mcp.json or .cursor/mcp.json:', 'failure')
  note(JSON.stringify({ mcpServers: { skillrail: server } }, null, 2), 'failure')
  if (port === undefined || file === undefined)
    note('The next start has another port and token; with --port and --token-file they stay.')
  const serve = async (): Promise<0> => {
    if (!signal.aborted) await once(signal, 'abort')
    await close()
    return exitCode.done
  }
  return new Serving({ address, pid: process.pid, tokenFile: file }, serve())
}

/**
 * Reads the token from a file, so that clients can use it after a restart. Creates a missing file
 * with mode 0600. Throws {@link UsageError} if the file contains anything else.
 */
function tokenInFile(path: string, newToken: () => string, { runtime }: Context): string {
  const reading = readRegularFile(path, { maxBytes: 1000 })
  if (!reading.ok && reading.code === 'file-missing') {
    const token = newToken()
    writeFileAtomicSync(path, `${token}\n`, { mode: 0o600 })
    return token
  }
  const invalidFile = (problem: string): UsageError =>
    new UsageError({
      code: 'token-file',
      message: `--token-file ${problem}`,
      hint: 'Name a file that does not exist yet, and it is created.',
    })
  if (!reading.ok) throw invalidFile(reading.message)
  if (runtime.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw invalidFile(`${path} can be read by others`)
  const token = reading.text.trim()
  if (/^[A-Za-z0-9_-]{32,200}$/.test(token)) return token
  throw invalidFile(`${path} does not hold a token of 32 to 200 letters, digits, _ and -`)
}
