import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Context, defineCommand, type Screen, Serving } from '../core/command.ts'
import { exitCode, pointless, UsageError } from '../core/errors.ts'
import { listening } from '../core/local-server.ts'
import { readRegularFile } from '../core/read-files.ts'
import { safeLine } from '../core/text.ts'
import { writeFileAtomicSync } from '../core/write-files.ts'
import { discoverOptionsFrom } from '../library/discover.ts'
import { SkillManager } from '../library/manager.ts'
import { findWorkspace } from '../trust/decide.ts'
import { offeredTools } from './create-server.ts'
import { newToken, serveHttp } from './http.ts'
import type { OfferedTool } from './model.ts'
import { projectServer } from './project-server.ts'
import { listPrompts, type SkillPrompt } from './skill-tools.ts'
import { servedSkillNames } from './skills-extension.ts'
import { serveStdio } from './stdio.ts'
import type { McpWorld } from './world.ts'

interface Offer {
  tools: readonly Omit<OfferedTool, 'run'>[]
  prompts: readonly SkillPrompt[]
  skills: readonly string[]
  /** Why the skills extension serves none. */
  reason?: string | undefined
}

interface Served {
  address: string
  pid: number
  tokenFile?: string | undefined
}

interface HttpOptions {
  port: number | undefined
  tokenFile: string | undefined
}

export const command = defineCommand<Offer | Served>()({
  options: {
    http: {
      kind: 'flag',
      flags: '--http',
      help: 'serve Streamable HTTP on 127.0.0.1 instead of stdio',
    },
    port: {
      kind: 'integer',
      flags: '--port <port>',
      help: 'for --http; default: a free port',
      least: 0,
      most: 65_535,
    },
    tokenFile: {
      kind: 'text',
      flags: '--token-file <file>',
      help: 'for --http: read the token from this file, or create it (0600), instead of printing it',
    },
    session: {
      kind: 'text',
      flags: '--session <id>',
      help: 'one session for all clients; default: one for each',
    },
    yes: {
      kind: 'flag',
      flags: '--yes',
      help: 'call tools that may change something without asking',
    },
    list: {
      kind: 'flag',
      flags: '--list',
      help: 'show what would be served, and exit',
    },
    dryRun: { kind: 'flag', flags: '--dry-run', help: 'the same' },
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
    const world = projectServer(context, { yes, session })
    if (list || dryRun) return await offerOf(world)
    if (http) return await overHttp(context, world, { port, tokenFile })
    const { streams, signal } = context
    if (streams === undefined) return undefined
    const { stdin, stdout } = streams
    if (stdin.isTTY === true) {
      context.note(
        'This waits for an MCP client, which starts it by itself. skillrail mcp serve --list shows what it offers; Ctrl-C ends it.',
      )
    }
    await serveStdio({ world, stdin, stdout, signal })
    return undefined
  },
  render: (result, screen) =>
    'address' in result
      ? `Serving MCP on ${result.address}. Ctrl-C ends it.\n`
      : offerText(result, screen),
})

/** What a client would be offered; nothing is served and no server is started. */
async function offerOf(world: McpWorld): Promise<Offer> {
  const tools = offeredTools(world).map(({ run: _run, ...tool }) => tool)
  const prompts = await listPrompts(world)
  const skills = await servedSkillNames(world)
  const reason = skills.length === 0 ? { reason: await whyNoneServed(world) } : {}
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

async function whyNoneServed({ runtime, settings }: McpWorld): Promise<string> {
  const skills = await new SkillManager(discoverOptionsFrom(runtime, settings)).list()
  if (skills.length === 0) return 'no skill is installed here'
  const forModels = skills.filter(({ fields }) => !fields.disableModelInvocation)
  if (forModels.length === 0) return 'only a user can start the skills here'
  return forModels.some(({ trustLevel }) => trustLevel === 'trusted')
    ? 'no skill here is as the extension wants it (names, sizes)'
    : 'only trusted skills are served, and none here is: look with skillrail trust'
}

async function overHttp(
  context: Context,
  world: McpWorld,
  options: HttpOptions,
): Promise<Serving<Served>> {
  const { note, signal } = context
  const { token, file } = mcpToken(options.tokenFile, context)
  const served = await listening(options.port, () =>
    serveHttp({ world, token, port: options.port }),
  )
  const { address } = served
  const shown = file === undefined ? token : `<the text of ${file}>`
  const headers = { Authorization: `Bearer ${shown}` }
  const server = { type: 'http', url: address, headers }
  note('For the configuration of a client, such as .mcp.json or .cursor/mcp.json:', 'failure')
  note(JSON.stringify({ mcpServers: { skillrail: server } }, null, 2), 'failure')
  noteWhatChanges(options, context)
  const ended = aborted(signal).then(async () => {
    await served.close()
    return exitCode.done
  })
  return new Serving({ address, pid: process.pid, tokenFile: file }, ended)
}

/** What a client was told of and the next start does not keep. */
function noteWhatChanges({ port, tokenFile }: HttpOptions, { note }: Context): void {
  const isAny = port === undefined || port === 0
  const changing = [...(isAny ? ['port'] : []), ...(tokenFile === undefined ? ['token'] : [])]
  if (changing.length === 0) return
  const keeping = [
    ...(isAny ? ['--port'] : []),
    ...(tokenFile === undefined ? ['--token-file'] : []),
  ]
  note(
    `The next start has a new ${changing.join(' and a new ')}; with ${keeping.join(' and ')} it stays.`,
  )
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((done) => {
    signal.addEventListener('abort', done, { once: true })
  })
}

/** The token of a server over HTTP, and where it is kept; undefined: only in this process. */
interface McpToken {
  token: string
  file: string | undefined
}

/**
 * A new token, or the one that a file has, so that clients which were told it are served again. A
 * file that is not there yet is written for the user alone.
 *
 * @throws {UsageError} for a file with something else in it
 */
function mcpToken(file: string | undefined, context: Context): McpToken {
  const { runtime } = context
  if (file === undefined) return { token: newToken(), file }
  const path = resolve(runtime.cwd, file)
  const reading = readRegularFile(path, { maxBytes: 1000 })
  if (!reading.ok && reading.code !== 'file-missing') {
    throw new UsageError({ code: 'token-file', message: `--token-file: ${reading.message}` })
  }
  if (!reading.ok) {
    const token = newToken()
    writeFileAtomicSync(path, `${token}\n`, { mode: 0o600 })
    warnOfGit(path, context)
    return { token, file: path }
  }
  if (runtime.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new UsageError({
      code: 'token-file',
      message: `--token-file ${path} can be read by others`,
      hint: `chmod 600 ${path}, or name a file that is not there yet.`,
    })
  }
  const token = reading.text.trim()
  if (/^[A-Za-z0-9_-]{32,200}$/.test(token)) {
    warnOfGit(path, context)
    return { token, file: path }
  }
  throw new UsageError({
    code: 'token-file',
    message: `--token-file ${path} has no token in it`,
    hint: 'A token has 32 to 200 letters, digits, _ and -. Name a file that is not there yet, and one is made.',
  })
}

/** Whoever commits everything commits the token too. */
function warnOfGit(path: string, { runtime, note }: Context): void {
  const workspace = findWorkspace(dirname(path), runtime)
  if (!existsSync(join(workspace, '.git'))) return
  note(
    safeLine(
      `${path} lies in a Git work tree: keep it out of Git, or name a file elsewhere, such as one below ~/.local/state/skillrail.`,
    ),
    'failure',
  )
}
