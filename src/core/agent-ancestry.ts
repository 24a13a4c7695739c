import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { exitCode, type ExitCode, SkillrailError, systemCode } from './errors.ts'
import {
  accountHome,
  type Runtime,
  stateDirectory,
  type StatePlace,
  userDirectories,
} from './runtime.ts'
import { processStat } from './process-stat.ts'

/** Whether a process was started by an agent, directly or through other programs. */
export type Ancestry =
  | { kind: 'agent'; client: string }
  | { kind: 'none' }
  /** The processes above this one cannot be read here. */
  | { kind: 'unknown' }

/** Variables that each client sets in the shell of its agent. */
const marks: Readonly<Record<string, string>> = {
  CLAUDECODE: 'Claude Code',
  CODEX_THREAD_ID: 'Codex',
  CODEX_CI: 'Codex',
  COPILOT_CLI: 'Copilot CLI',
  COPILOT_AGENT_SESSION_ID: 'Copilot CLI',
  GEMINI_CLI: 'Gemini CLI',
  QWEN_CODE: 'Qwen Code',
  OPENCODE: 'OpenCode',
  PI_CODING_AGENT: 'pi',
}

/** The clients' programs, as a process list names them. It has no editors: users work in them too. */
const programs: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'Copilot CLI',
  'cursor-agent': 'Cursor',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  pi: 'pi',
  qwen: 'Qwen Code',
}

/** The clients' packages, whose files may have any name. */
const packages: Readonly<Record<string, string>> = {
  '@anthropic-ai/claude-code': 'Claude Code',
  '@openai/codex': 'Codex',
  '@github/copilot': 'Copilot CLI',
  '@google/gemini-cli': 'Gemini CLI',
  'opencode-ai': 'OpenCode',
  '@earendil-works/pi-coding-agent': 'pi',
  '@qwen-code/qwen-code': 'Qwen Code',
}

/** Returns the client to which a package belongs, also one with its program for one system. */
export function clientOfPackage(name: string): string | undefined {
  const [whole = ''] = name.split(/-(?:linux|darwin|windows|win32)-/)
  if (Object.hasOwn(packages, whole)) return packages[whole]
  return Object.hasOwn(programs, whole) ? programs[whole] : undefined
}

/** One process with the words of its command line. */
export interface ProcessEntry {
  parent: number
  words: readonly string[]
  /** When it started, in the system's form, only for comparison: a later process may have the same ID. */
  startedAt: string
}

/** Reads the processes of this machine. */
export interface ProcessTable {
  entry(pid: number): ProcessEntry | undefined
  /** The names of a process's initial environment variables; undefined if they cannot be read. */
  variables(pid: number): readonly string[] | undefined
}

/**
 * Returns whether an agent client started a process, by the variables of its shell or by the process's
 * ancestors. A process can hide both, so this only detects honest processes.
 */
export function ancestryOf(
  { env, platform }: Pick<Runtime, 'env' | 'platform'>,
  pid: number,
  table: ProcessTable = processTable(platform),
): Ancestry {
  const mark = Object.keys(marks).find((name) => (env[name] ?? '') !== '')
  if (mark !== undefined) return { kind: 'agent', client: marks[mark] ?? mark }
  for (const [index, one] of ancestors(pid, table).entries()) {
    if (one.entry === undefined) return { kind: 'unknown' }
    const client = index === 0 ? undefined : clientOf(one.entry.words)?.title
    if (client !== undefined) return { kind: 'agent', client }
  }
  return { kind: 'none' }
}

/**
 * Returns whether an agent client is, or has started, the process at the other end of a connection on this
 * machine. `unknown` if the process cannot be identified.
 */
export function ancestryOfPeer(
  pids: readonly number[],
  platform: NodeJS.Platform,
  table: ProcessTable = processTable(platform),
): Ancestry {
  const all = pids.map((pid) => startedBy(pid, table))
  const agent = all.find(({ kind }) => kind === 'agent')
  if (agent) return agent
  const isNone = all.length > 0 && all.every(({ kind }) => kind === 'none')
  return { kind: isNone ? 'none' : 'unknown' }
}

function startedBy(pid: number, table: ProcessTable): Ancestry {
  for (const one of ancestors(pid, table)) {
    if (one.entry === undefined) return { kind: 'unknown' }
    const mark = table.variables(one.pid)?.find((name) => Object.hasOwn(marks, name))
    const client = clientOf(one.entry.words)?.title ?? (mark === undefined ? mark : marks[mark])
    if (client !== undefined) return { kind: 'agent', client }
  }
  return { kind: 'none' }
}

/** A process of an agent client. Its ID alone is not enough: a later process may have the same. */
export interface ClientProcess {
  pid: number
  startedAt: string
}

/** The nearest agent client above a process. */
export type ClientAbove =
  | {
      kind: 'client'
      title: string
      process: ClientProcess
      /** The command line of the client's child process that leads to the process in question. */
      child: readonly string[]
      /** Whether an agent started this client; undefined if that cannot be determined. */
      isBelowAgent: boolean | undefined
    }
  | { kind: 'none' | 'unknown' }

export function clientAbove(
  pid: number,
  platform: NodeJS.Platform,
  table: ProcessTable = processTable(platform),
): ClientAbove {
  const [, ...parents] = ancestors(pid, table)
  for (const [index, { pid: at, entry }] of parents.entries()) {
    if (entry === undefined) return { kind: 'unknown' }
    const client = clientOf(entry.words)
    if (client === undefined) continue
    const child = parents[index - 1]?.entry?.words ?? []
    const process = { pid: at, startedAt: entry.startedAt }
    const isBelowAgent = wasStartedByAgent(at, client, parents.slice(index + 1), table)
    return { kind: 'client', title: client.title, process, child, isBelowAgent }
  }
  return { kind: 'none' }
}

/** Whether a process still runs; undefined if the processes of this machine cannot be read. */
export function isRunning(
  { pid, startedAt }: ClientProcess,
  platform: NodeJS.Platform,
  table: ProcessTable = processTable(platform),
): boolean | undefined {
  if (table.entry(process.pid) === undefined) return undefined
  return table.entry(pid)?.startedAt === startedAt
}

/** Whether a client asks at a terminal and has no option for a single prompt; false if that cannot be read. */
export function hasTerminal(pid: number, platform: NodeJS.Platform): boolean {
  if (platform !== 'linux') return false
  const words = readLinuxProcess(pid)?.words ?? []
  if (words.some((word) => /^(?:-p|--prompt(?:=|$))/.test(word))) return false
  try {
    return [0, 1].every((descriptor) => {
      return /^\/dev\/(?:pts\/|tty)/.test(readlinkSync(`/proc/${pid}/fd/${descriptor}`))
    })
  } catch {
    return false
  }
}

interface Ancestor {
  pid: number
  entry: ProcessEntry | undefined
}

/** Returns a process and its ancestors, up to the first that has no parent or cannot be read. */
function ancestors(pid: number, table: ProcessTable): Ancestor[] {
  const list: Ancestor[] = []
  // A longer list can only be a cycle.
  for (let at = pid; at > 0 && list.length < 200;) {
    const entry = table.entry(at)
    // The first process of a machine may be hidden; that of a container may be the client.
    if (at === 1 && !entry) break
    list.push({ pid: at, entry })
    if (!entry) break
    at = entry.parent
  }
  return list
}

/** Decides by the client's initial variables, or by another client among its ancestors. */
function wasStartedByAgent(
  pid: number,
  client: ClientWords,
  parents: readonly Ancestor[],
  table: ProcessTable,
): boolean | undefined {
  if (table.variables(pid)?.some((name) => Object.hasOwn(marks, name)) === true) return true
  let isLauncher = true
  let { args } = client
  for (const { entry } of parents) {
    if (entry === undefined) return undefined
    const other = clientOf(entry.words)
    isLauncher &&= other?.title === client.title && isOwnStart(client.title, args, other.args)
    if (other !== undefined && !isLauncher) return true
    args = other?.args ?? args
  }
  return false
}

/** The first word of the process in which a client works for its window, and which the window starts. */
const services: Readonly<Record<string, string>> = { Codex: 'app-server' }

/** Whether a client started itself: again with the same arguments, or as the service of its window. */
function isOwnStart(title: string, args: readonly string[], parent: readonly string[]): boolean {
  const service = services[title]
  const isService = service !== undefined && args[0] === service && parent[0] !== service
  return isService || isSame(args, parent)
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((word, index) => word === others[index])
}

interface ClientWords {
  title: string
  /** The words after its name. */
  args: readonly string[]
}

const interpreters = /^(?:node(?:js)?|bunx?|deno)[\d.-]*(?:\.exe)?$/i
const interpreterCommands = new Set(['run', 'exec', 'x'])

/** Interpreter options whose value is a script too, which runs before the main script. */
const preloading =
  /^(?:-r|--require|--import|--preload|--(?:experimental-)?loader|--test-reporter|--test-global-setup)$/

/** Recognises a client by its program's name, or by an interpreter with options and then the client's file. */
function clientOf(words: readonly string[]): ClientWords | undefined {
  const [program = '', ...args] = words
  const title = titleOf(program)
  if (title !== undefined) return { title, args: withoutEmptyEnd(args) }
  if (!interpreters.test(baseName(program))) return undefined
  for (const [index, word] of args.entries()) {
    if (word.startsWith('-') || (index === 0 && interpreterCommands.has(word))) continue
    const scriptTitle = titleOf(word)
    if (scriptTitle !== undefined)
      return { title: scriptTitle, args: withoutEmptyEnd(args.slice(index + 1)) }
    // A word after an option may be its value; then the script follows.
    const option = args[index - 1] ?? ''
    const mayBeValue = option.startsWith('-') && !option.includes('=')
    const isScript = /\.[cm]?[jt]s$/i.test(word) && !preloading.test(option)
    if (!mayBeValue || isScript) return undefined
  }
  return undefined
}

/** Removes empty words at the end, which appear if a program has changed its title. */
function withoutEmptyEnd(words: readonly string[]): readonly string[] {
  return words.slice(0, words.findLastIndex((word) => word !== '') + 1)
}

function titleOf(word: string): string | undefined {
  const name = baseName(word).replace(/\.(?:exe|cmd|[cm]?[jt]s)$/i, '')
  if (Object.hasOwn(programs, name)) return programs[name]
  const path = word.replaceAll('\\', '/')
  const packageName = Object.keys(packages).find((one) => {
    return path.includes(`/node_modules/${one}/`) || path === one || path.startsWith(`npm:${one}`)
  })
  return packageName === undefined ? undefined : packages[packageName]
}

function baseName(path: string): string {
  return basename(path.replaceAll('\\', '/'))
}

function processTable(platform: NodeJS.Platform): ProcessTable {
  if (platform === 'linux') return { entry: readLinuxProcess, variables: readLinuxVariables }
  const variables = (): undefined => undefined
  return platform === 'darwin'
    ? { entry: readMacProcess, variables }
    : { entry: () => undefined, variables }
}

function readLinuxProcess(pid: number): ProcessEntry | undefined {
  try {
    const { parent, ticks } = processStat(pid)
    if (parent === undefined || ticks === undefined) return undefined
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return { parent: Number(parent), words, startedAt: ticks }
  } catch {
    return undefined
  }
}

function readLinuxVariables(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8')
    return text.split('\0').map((line) => line.split('=', 1)[0] ?? '')
  } catch {
    return undefined
  }
}

function readMacProcess(pid: number): ProcessEntry | undefined {
  // Loaded only here, because every command loads this file.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const about = ['-o', 'ppid=,lstart=,command=', '-p', String(pid)]
  const env = { LC_ALL: 'C' }
  const { stdout, status } = spawnSync('/bin/ps', about, { encoding: 'utf8', env })
  const [parent = '', ...words] = stdout.trim().split(/ +/)
  if (status !== 0 || !/^\d+$/.test(parent)) return undefined
  // The time has five words, as in `Sat Nov 28 22:08:21 2026`. The command line follows.
  const startedAt = words.slice(0, 5).join(' ')
  return { parent: Number(parent), words: words.slice(5), startedAt }
}

/** An agent tried to grant a permission that only a user can grant. */
export class AgentRefusedError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/**
 * Refuses an action that only a user is allowed to run, if an agent started this process. An agent can
 * open a terminal, so a question there proves nothing. Actions in a state directory that no client uses
 * are allowed: they have no effect on a client.
 *
 * @param action the refused action, as the beginning of a sentence: "runs approve"
 * @throws {AgentRefusedError}
 */
export function refuseBelowAgent(place: StatePlace & { runtime: Runtime }, action: string): void {
  if (!affectsClients(place)) return
  const ancestry = ancestryOf(place.runtime, process.pid)
  if (ancestry.kind !== 'agent') return
  throw new AgentRefusedError({
    code: 'below-agent-client',
    message: `${action} is refused here: ${ancestry.client} has started this process, and only a user gives this permission`,
    hint: 'In the session of the agent, type rail approve or rail reject WHY as a prompt (not with !). For everything else, use a terminal that the client has not started.',
  })
}

/**
 * Whether client hooks may read this state: it is the account's state, or it has rails or guards. The
 * setting `state.directory` moves only runs, so both directories count.
 */
function affectsClients({ runtime, settings }: StatePlace): boolean {
  const home = accountHome()
  const account = home === undefined ? '' : userDirectories({ ...runtime, home, env: {} }).state
  const states = [stateDirectory({ runtime, settings }), userDirectories(runtime).state]
  return states.some(
    (state) =>
      isSameDirectory(state, account) ||
      ['rails', 'guards'].some((folder) => hasRecords(join(state, folder))),
  )
}

/** Compares what the system finds at both paths: a link or a mount gives a directory other paths. */
function isSameDirectory(one: string, other: string): boolean {
  if (one === other) return true
  const [first, second] = [existingParent(one), existingParent(other)]
  return first === undefined || second === undefined || first === second
}

/**
 * Returns the identity of the nearest directory that exists, followed by the names below it that do not;
 * undefined if that cannot be determined.
 */
function existingParent(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    const isRoot = dirname(path) === path
    if (isRoot || systemCode(error) !== 'ENOENT') return undefined
    const parent = existingParent(dirname(path))
    return parent && `${parent}/${basename(path)}`
  }
}

function hasRecords(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => name.endsWith('.json'))
  } catch (error) {
    return systemCode(error) !== 'ENOENT'
  }
}
