import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { main } from '../../src/cli/main.ts'
import type { Io } from '../../src/cli/terminal.ts'
import { bin, coverageVariables } from '../command-line.ts'

/** The fixture server, which records its calls. */
const toolServer = fileURLToPath(new URL('../fixtures/programs/tool-server.mjs', import.meta.url))

/** A project in a separate directory, with a separate home. */
export interface McpProject {
  project: string
  home: string
  /** The calls that the tool server received, and `cancelled`. */
  calls(): string[]
  /** The process IDs of the started tool servers. */
  started(): number[]
  write(path: string, text: string): void
  /** A skill of the project. */
  skill(name: string, frontmatter: string, body: string, files?: Record<string, string>): void
  remove(): void
}

export function makeProject(): McpProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-mcp-')))
  const project = join(root, 'project')
  const home = join(root, 'home')
  const [record, starts] = [join(root, 'record'), join(root, 'starts')]
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  const linesOf = (path: string): string[] => {
    try {
      return readFileSync(path, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const things = { command: process.execPath, args: [toolServer, record, starts] }
  write('.mcp.json', JSON.stringify({ mcpServers: { things } }))
  return {
    project,
    home,
    calls: () => linesOf(record),
    started: () => linesOf(starts).map(Number),
    write,
    skill(name, frontmatter, body, files = {}) {
      const directory = `.skillrail/skills/${name}`
      const description = `description: The skill ${name}.\n`
      write(
        `${directory}/SKILL.md`,
        `---\nname: ${name}\n${description}${frontmatter}---\n${body}\n`,
      )
      for (const [path, text] of Object.entries(files)) write(`${directory}/${path}`, text)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export interface Connected {
  client: Client
  /** The server's stderr. */
  stderr(): string
  /** The whole text of a tool's answer. */
  text(name: string, input?: Record<string, unknown>): Promise<string>
  /** The JSON answer of a tool; notes about other steps precede it. */
  json(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>
}

export interface ConnectOptions {
  args?: readonly string[]
  env?: Record<string, string>
  client?: ClientOptions
  /** Answers the questions of the server; the client declares elicitation then. */
  answer?: (message: string) => Record<string, unknown> | undefined
}

/** The latest protocol, which has no `initialize`. */
export const modern: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } } }

/** The real client and the real command in this process, over pipes that need no other one. */
export async function connect(
  { project, home }: Pick<McpProject, 'project' | 'home'>,
  { args = ['--trust-workspace'], env = {}, client: options = {}, answer }: ConnectOptions = {},
): Promise<Connected> {
  const client = makeClient(options, answer)
  const [stdin, protocolOutput] = [new PassThrough(), new PassThrough()]
  let stderr = ''
  const sink: Io['stderr'] = {
    isTerminal: false,
    columns: undefined,
    write: (text) => void (stderr += text),
  }
  const ended = main(['mcp', 'serve', ...args], {
    stdin,
    protocolOutput,
    stdout: sink,
    stderr: sink,
    terminal: undefined,
    runtime: { cwd: project, home, env: { PATH: process.env['PATH'], HOME: home, ...env } },
  })
  await client.connect(new PipeTransport(stdin, protocolOutput, ended))
  return { client, stderr: () => stderr, ...askerOf(client) }
}

/** The client's end of the pipes. */
class PipeTransport implements Transport {
  onclose?: () => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #requests: Writable
  readonly #answers: Readable
  readonly #ended: Promise<unknown>

  constructor(requests: Writable, answers: Readable, ended: Promise<unknown>) {
    this.#requests = requests
    this.#answers = answers
    this.#ended = ended
  }

  async start(): Promise<void> {
    const lines = createInterface({ input: this.#answers })
    lines.on('line', (line) => this.onmessage?.(JSON.parse(line)))
    void this.#ended.then(() => this.onclose?.())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#requests.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#requests.end()
    await this.#ended
  }
}

/** The same with the command in a process of its own. */
export async function connectProcess(
  { project, home }: Pick<McpProject, 'project' | 'home'>,
  { args = ['--trust-workspace'], env = {}, client: options = {}, answer }: ConnectOptions = {},
): Promise<Connected> {
  const client = makeClient(options, answer)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', bin, 'mcp', 'serve', ...args],
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...coverageVariables, ...env },
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  await client.connect(transport)
  return { client, stderr: () => stderr, ...askerOf(client) }
}

export function makeClient(options: ClientOptions, answer: ConnectOptions['answer']): Client {
  const capabilities = answer === undefined ? {} : { elicitation: {} }
  const client = new Client({ name: 'test', version: '1' }, { ...options, capabilities })
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      const content = answer(params.message)
      return content === undefined
        ? { action: 'decline' }
        : { action: 'accept', content: asForm(content) }
    })
  }
  return client
}

function asForm(content: Record<string, unknown>): Record<string, string | boolean> {
  const form: Record<string, string | boolean> = {}
  for (const [name, value] of Object.entries(content)) {
    form[name] = typeof value === 'boolean' ? value : String(value)
  }
  return form
}

export function askerOf(client: Client): Pick<Connected, 'text' | 'json'> {
  const texts = async (name: string, input: Record<string, unknown>): Promise<string[]> => {
    const { content } = await client.callTool({ name, arguments: input })
    return content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  }
  return {
    text: async (name, input = {}) => (await texts(name, input)).join('\n'),
    json: async (name, input = {}) => JSON.parse((await texts(name, input)).at(-1) ?? ''),
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
