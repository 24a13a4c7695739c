import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Context, defineCommand, option, type Screen, Serving } from '../core/command.ts'
import { exitCode, pointless, UsageError } from '../core/errors.ts'
import { listening } from '../core/local-server.ts'
import { findWorkspace, readRegularFile } from '../core/read-files.ts'
import { safeLine } from '../core/text.ts'
import { writeFileAtomicSync } from '../core/write-files.ts'
import type { ServedProject } from './served-project.ts'
import type { SkillPrompt } from './skill-tools.ts'
import type { OfferedTool } from './tool.ts'

interface Offer {
  tools: readonly Omit<OfferedTool, 'run'>[]
  prompts: readonly SkillPrompt[]
  skills: readonly string[]
  reason?: string | undefined
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
      'for --http: read the token from this file, or create it (0600), instead of printing it',
    ),
    session: option.text('--session <id>', 'one session for all clients; default: one for each'),
    yes: option.flag('--yes', 'call tools that may change something without asking'),
    list: option.flag('--list', 'show what would be served, and exit'),
    dryRun: option.flag('--dry-run', 'the same'),
  },
  details: `In the configuration of an MCP client, with the directory of the project that has the package:
  {"mcpServers": {"skillrail": {"command": "npx", "args":
    ["--prefix", "DIR", "--no", "--", "skillrail", "-C", "DIR", "mcp", "serve"]}}}

Calls that can change something need approval in the client (elicitation) or --yes.`,
  examples: [
    'mcp serve --list',
    'mcp serve --http --port 8931 --token-file ~/.local/state/skillrail/mcp-token',
  ],
  protocol: ({ http, list, dryRun }) => !(http || list || dryRun),
  withoutJson: 'Leave out --json, or add --list or --http.',
  async run(context, { http, port, tokenFile, session, yes, list, dryRun }) {
    if (!http) {
      if (port !== undefined) throw pointless('--port', '--http', 'Add --http.')
      if (tokenFile !== undefined) throw pointless('--token-file', '--http', 'Add --http.')
    }
    const { ServedProject } = await import('./served-project.ts')
    const project = new ServedProject(context, { yes, session })
    if (list || dryRun) return await offerOf(project)
    if (http) return await overHttp(context, project, { port, tokenFile })
    const { streams } = context
    if (streams === undefined) return undefined
    const { stdin, stdout } = streams
    if (stdin.isTTY === true) {
      context.note(
        'This waits for an MCP client, which starts it by itself. skillrail mcp serve --list shows what it offers; Ctrl-C ends it.',
      )
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
  const reason = skills.length === 0 ? { reason: await whyNoneServed(project) } : {}
  return { tools, prompts, skills, ...reason }
}

function offerText({ tools, prompts, skills, reason }: Offer, screen: Screen): string {
  const toolRows = tools.map(({ name, title, annotations: { readOnlyHint } }) => [
    `  ${name}`,
    title,
    readOnlyHint ? 'reads' : 'acts',
  ])
  const promptRows = prompts.map(({ name, description }) => [
    `  ${safeLine(name)}`,
    description.slice(0, 80),
  ])
  return [
    `Tools\n${screen.table(toolRows)}Prompts\n`,
    prompts.length === 0 ? '  none: there is no skill that a user can start\n' : '',
    `${screen.table(promptRows)}Resources of the skills extension\n`,
    reason === undefined ? '' : `  none: ${reason}\n`,
    screen.table(skills.map((name) => [`  skill://${name}/SKILL.md`])),
  ].join('')
}

async function whyNoneServed(project: ServedProject): Promise<string> {
  const skills = await project.skills().list()
  if (skills.length === 0) return 'no skill is installed here'
  const forModels = skills.filter(({ fields }) => !fields.disableModelInvocation)
  if (forModels.length === 0) return 'only a user can start the skills here'
  return forModels.some(({ trustLevel }) => trustLevel === 'trusted')
    ? 'no skill here is as the extension wants it (names, sizes)'
    : 'only trusted skills are served, and none here is: look with skillrail trust'
}

async function overHttp(
  context: Context,
  project: ServedProject,
  { port, tokenFile }: { port: number | undefined; tokenFile: string | undefined },
): Promise<Serving<Served>> {
  const { note, signal } = context
  const { newToken, serveHttp } = await import('./http.ts')
  const file = tokenFile === undefined ? undefined : resolve(context.runtime.cwd, tokenFile)
  const token = file === undefined ? newToken() : keptToken(file, newToken, context)
  const { address, close } = await listening(port, () => serveHttp({ project, token, port }))
  const shown = file === undefined ? token : `<the text of ${file}>`
  const headers = { Authorization: `Bearer ${shown}` }
  const server = { type: 'http', url: address, headers }
  note('For the configuration of a client, such as .mcp.json or .cursor/mcp.json:', 'failure')
  note(JSON.stringify({ mcpServers: { skillrail: server } }, null, 2), 'failure')
  const changing = [
    ...(port ? [] : [['port', '--port']]),
    ...(file === undefined ? [['token', '--token-file']] : []),
  ]
  if (changing.length > 0) {
    const what = changing.map(([name]) => name).join(' and a new ')
    const options = changing.map(([, option]) => option).join(' and ')
    note(`The next start has a new ${what}; with ${options} it stays.`)
  }
  const serve = async (): Promise<0> => {
    if (!signal.aborted) await once(signal, 'abort')
    await close()
    return exitCode.done
  }
  return new Serving({ address, pid: process.pid, tokenFile: file }, serve())
}

/**
 * The token from a file, so that clients keep it over restarts. A missing file is written with mode
 * 0600. Throws {@link UsageError} for a file with something else in it.
 */
function keptToken(path: string, newToken: () => string, context: Context): string {
  const wrong = (message: string, hint?: string): UsageError =>
    new UsageError({ code: 'token-file', message: `--token-file ${message}`, hint })
  const reading = readRegularFile(path, { maxBytes: 1000 })
  if (!reading.ok && reading.code !== 'file-missing') throw wrong(reading.message)
  const token = reading.ok ? reading.text.trim() : newToken()
  if (!reading.ok) writeFileAtomicSync(path, `${token}\n`, { mode: 0o600 })
  else if (context.runtime.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw wrong(
      `${path} can be read by others`,
      `chmod 600 ${path}, or name a file that is not there yet.`,
    )
  if (!/^[A-Za-z0-9_-]{32,200}$/.test(token))
    throw wrong(
      `${path} has no token in it`,
      'A token has 32 to 200 letters, digits, _ and -. Name a file that is not there yet, and one is made.',
    )
  // Whoever commits everything commits the token too.
  if (existsSync(join(findWorkspace(dirname(path), context.runtime), '.git'))) {
    const advice = `${path} lies in a Git work tree: keep it out of Git, or name a file elsewhere, such as one below ~/.local/state/skillrail.`
    context.note(safeLine(advice), 'failure')
  }
  return token
}
