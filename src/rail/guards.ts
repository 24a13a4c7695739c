import { basename, dirname, join, resolve } from 'node:path'
import { packagedProgram } from '#core/packaged-program'
import { realPathOf } from '#core/read-files'
import { isObject, parseJson } from '#core/json'
import { guardedCalls } from '#skill/guard-words'
import { type ClientCall, type CoveringGuard, guardAgainst, isAllowed } from './calls.ts'
import { adapters, type Platform } from '#hooks/adapters'
import { chainCalls } from '#hooks/rail-facts'
import { type AcceptedGuards, isSameChain } from '#trust/accepted-guards'
import type { Guard, RailSession } from './session.ts'
import { holdsDecision } from './words.ts'

/** Returns why a rail denies a call; undefined if the call is allowed. */
export async function denialOf(
  call: ClientCall,
  rail: RailSession,
  input: string,
): Promise<string | undefined> {
  const reason = await reasonAgainst({ ...call, workspace: rail.workspace }, rail, input)
  return reason === undefined || (await isReport(call)) ? undefined : reason
}

async function reasonAgainst(
  call: ClientCall,
  rail: RailSession,
  input: string,
): Promise<string | undefined> {
  const { guards, step, standing, chain } = rail
  if (standing === 'ended') return undefined
  const decision = isRailSkill(call) ? 'yes' : await passesOnDecision(call, rail, input)
  if (decision === 'yes') {
    return 'Only a user decides about a rail, by typing it in this session. Do not pass such words to a tool.'
  }
  if (decision === 'too-long') {
    return `This shell line is too long or too nested to be read, so it may contain a decision of the user. ${shorten}`
  }
  if (isScheduler(call)) {
    return `While the chain \`${chain}\` is open, no prompt may be scheduled: it would look like one of the user.`
  }
  const closed = guards.filter((guard) => !isOpenNow(guard, standing))
  const denial = await denialOfClosed(call, { chain, guards: closed }, (guard) =>
    whyClosed(guard, rail),
  )
  if (denial !== undefined) return denial
  if (step?.tools === undefined || standing === 'paused') return undefined
  if (isFree(call) || isReportTool(call) || (await isAllowed(call, step.tools))) return undefined
  const shell = isShell(call) ? '. A shell line may neither set variables nor write to files' : ''
  return `The step \`${step.step}\` allows only: ${step.tools}${shell}`
}

async function denialOfClosed(
  call: ClientCall,
  { chain, guards }: Pick<RailSession, 'chain' | 'guards'>,
  why: (guard: Guard) => string,
): Promise<string | undefined> {
  const against = await closedGuard(call, guards)
  if (!against) return undefined
  const { guard, isTooLong } = against
  const belonging = belongsTo(guard, chain)
  return isTooLong ? tooLongFor(belonging) : `${belonging}, ${why(guard)}`
}

/** Returns why every guarded call of a rail is denied, open or not; undefined if no guard covers the call. */
export async function guardDenial(
  call: ClientCall,
  rail: RailSession,
  why: string,
): Promise<string | undefined> {
  const located = { ...call, workspace: rail.workspace }
  const denial = await denialOfClosed(located, rail, () => why)
  return denial === undefined || (await isReport(call)) ? undefined : denial
}

/** Returns the first of the guards that covers a call, or the command in a call of a tool that no list has. */
async function closedGuard<G extends Pick<Guard, 'calls'>>(
  call: ClientCall,
  guards: readonly G[],
): Promise<CoveringGuard<G> | undefined> {
  const against = await guardAgainst(call, guards)
  const { otherLine } = call
  if (against || otherLine === undefined) return against
  const shell = { kind: 'shell', paths: [], command: otherLine } as const
  return await guardAgainst({ ...call, call: shell }, guards)
}

/** `git push` belongs to the step … */
function belongsTo({ calls, step }: Pick<Guard, 'calls' | 'step'>, chain: string): string {
  return `\`${guardedCalls(calls).join(' and ')}\` belongs to the step \`${step}\` of the chain \`${chain}\``
}

const shorten =
  'Split it into several calls, and write long texts into a file with the tool for edits.'

function tooLongFor(belonging: string): string {
  return `This shell line is too long or too nested to be read, so it may contain a guarded command: ${belonging}. ${shorten}`
}

/**
 * Whether a call could pass a decision on to a client, as a prompt of another process. What a file says, and
 * the text of an edit, are no prompts.
 */
async function passesOnDecision(
  { call }: ClientCall,
  { steps, step }: RailSession,
  input: string,
): Promise<'yes' | 'no' | 'too-long'> {
  const isFile = call?.kind === 'edit' || call?.kind === 'read'
  if (isFile && call.command === '') return 'no'
  const names = step === undefined ? steps : [...steps, step.step]
  const texts = textsIn(parseJson(input) ?? input)
  const line = call?.command ?? ''
  if (call?.kind === 'shell' && (await searchesOnly(line))) {
    const others = textsIn(withoutDescription(parseJson(input))).filter((text) => text !== line)
    return others.some((text) => holdsDecision(text, names)) ? 'yes' : 'no'
  }
  if (texts.some((text) => holdsDecision(text, names))) return 'yes'
  if (line === '' || !line.replaceAll(/["'\\]/g, '').includes('rail')) return 'no'
  const { readShellCommands } = await import('#core/shell-commands')
  const { commands, isTooLong } = readShellCommands(line)
  const isDecision = commands.some(({ words }) =>
    words.some((word, start) => {
      if (!word.text.includes('rail')) return false
      // Its arguments may be the words of the prompt; the shortest decisions have two to four.
      return [1, 2, 3, 4].some((count) => {
        const texts = words.slice(start, start + count).map(({ text }) => text)
        return holdsDecision(texts.join(' '), names)
      })
    }),
  )
  if (isDecision) return 'yes'
  return isTooLong ? 'too-long' : 'no'
}

/** Commands for a search, which have no option that starts a program or writes a file. */
const searchPrograms = ['cd', 'grep', 'egrep', 'fgrep', 'head', 'tail', 'wc'].map(
  (name) => `${name}:*`,
)

/** Whether a shell line only searches files, so that its words reach nobody but the agent. */
async function searchesOnly(line: string): Promise<boolean> {
  if (!line.includes('grep')) return false
  const { runsOnly } = await import('./shell-calls.ts')
  return runsOnly(line, searchPrograms)
}

/** Returns the parameters of a shell call without the text that only describes the line to the user. */
function withoutDescription(parameters: unknown): unknown {
  if (!isObject(parameters)) return parameters
  const { description: _description, ...others } = parameters
  return others
}

/** Returns every text in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}

/** Why the guard of a step is closed, and what the agent does now, after the name of the step. */
function whyClosed(guard: Guard, { step, standing, waiting, reason, runId }: RailSession): string {
  const rest = 'Do not work around this:'
  if (standing === 'failed' && runId === '')
    return `which did not start. ${reason} ${rest} tell the user.`
  if (standing === 'failed')
    return `and stays denied after its end. ${reason} ${rest} tell the user.`
  if (step !== undefined) {
    return `whose turn has not come. The current step is \`${step.step}\`. ${rest} finish the current step and end your turn.`
  }
  const isNext = standing === 'approval' && waiting?.step === guard.step
  const why = isNext ? 'which waits for the approval of the user' : 'whose turn has not come'
  return `${why}. ${rest} end your turn.`
}

/** The record of chains whose guards apply without a rail. */
type Always = AcceptedGuards & { kind: 'read' }

/**
 * Returns why a chain with `guards: always` denies a call: no rail has reached the step that may make the
 * call. Undefined if the call is allowed.
 */
export async function denialWithoutRail(
  call: ClientCall,
  { workspace, chains }: Always,
  rails: readonly RailSession[],
  home: string,
): Promise<string | undefined> {
  const located = { ...call, workspace: workspace ?? call.workspace }
  const closed = chains.flatMap(({ name, path, guards }) =>
    guards.flatMap((guard) => {
      const isOpen = rails.some((rail) => opensGuard(rail, { workspace, path }, guard.step))
      return isOpen ? [] : [{ ...guard, chain: name, path }]
    }),
  )
  const against = await closedGuard(located, closed)
  if (!against || (await isReport(call))) return undefined
  const { guard, isTooLong } = against
  const belonging = belongsTo(guard, guard.chain)
  if (isTooLong) return tooLongFor(belonging)
  const isRead = await readsChain(call.client, { workspace, path: guard.path, home })
  const start = isRead
    ? chainCalls[adapters[call.client].sigil].replace('NAME', () => guard.chain)
    : `${packagedProgram() ?? 'skillrail'} chain start ${guard.chain}`
  return `${belonging}, and is always denied without it. Start \`${start}\` first, or ask the user to. Do not work around this.`
}

/**
 * Whether a chain is in a folder whose skills a client reads, and can so be called there by its name. A chain that is
 * gone cannot be started at all.
 */
async function readsChain(
  client: Platform,
  { workspace, path, home }: { workspace: string | undefined; path: string; home: string },
): Promise<boolean> {
  const directory = dirname(resolve(workspace ?? '/', path))
  const real = realPathOf(directory)
  if (real === undefined) return true
  const { locationTable } = await import('#library/locations')
  return locationTable.some(({ project, user, clients }) => {
    if (!clients.some((one) => one === client)) return false
    const places = [
      ...(project === undefined || workspace === undefined ? [] : [join(workspace, project)]),
      ...(user === undefined ? [] : [join(home, user)]),
    ]
    return places.some((place) => realPathOf(join(place, basename(directory))) === real)
  })
}

function opensGuard(
  rail: RailSession,
  chain: { workspace: string | undefined; path: string },
  step: string,
): boolean {
  const { always = [], guards, standing } = rail
  return always.some(({ path, prefix }) => {
    if (!isSameChain(chain, { workspace: rail.workspace, path })) return false
    const guard = guards.find((one) => one.step === `${prefix}${step}`)
    return guard !== undefined && isOpenNow(guard, standing)
  })
}

function isOpenNow({ isOpen }: { isOpen: boolean }, standing: RailSession['standing']): boolean {
  return isOpen && standing !== 'paused'
}

/** The clients' tools for questions and plans, which neither read nor change anything. */
const freeTools = new Set(
  (
    'askuserquestion todowrite taskcreate taskupdate tasklist taskget exitplanmode enterplanmode ' +
    'update_plan request_user_input ask_user write_todos todo_write ask_user_question question ' +
    'todowrite todoread report_intent update_todo'
  ).split(' '),
)

function isFree({ tool }: ClientCall): boolean {
  return freeTools.has(tool.toLowerCase())
}

/** Whether a call reports about the step itself, by the command line. */
async function isReport(call: ClientCall): Promise<boolean> {
  const own = packagedProgram()
  const programs = ['skillrail', 'npx skillrail', ...(own === undefined ? [] : [own])]
  const forms = programs.map((program) => `Bash(${program} chain report:*)`).join(' ')
  return call.call?.kind === 'shell' && (await isAllowed(call, forms))
}

/** Whether a call reports about the step itself, by the MCP server. Guards and rail words apply to it. */
function isReportTool({ call, tool }: ClientCall): boolean {
  return call === undefined && /[^a-z\d]chain_report$/i.test(tool)
}

function isShell({ call }: ClientCall): boolean {
  return call?.kind === 'shell'
}

/** Whether a call loads the skill `rail`, with which a user decides, also with its package's name. */
function isRailSkill({ call }: ClientCall): boolean {
  return call?.kind === 'skill' && call.paths.some((name) => /^(?:[^:]+:)*rail$/i.test(name))
}

/** Tools with which an agent can schedule a prompt. */
const schedulers = new Set(['croncreate', 'schedulewakeup', 'cron_create', 'schedule'])

function isScheduler({ tool }: ClientCall): boolean {
  return schedulers.has(tool.toLowerCase())
}
