import { join } from 'node:path'
import { type ClientName, clientFolder, clientNames } from '#core/client-folders'
import { compareText, type Diagnostic, reasonOf } from '#core/errors'
import { findWorkspace, isInside, statsOf } from '#core/read-files'
import { amount } from '#core/text'
import { adapters } from '#hooks/adapters'
import { type HookTrace, readTraces } from '#hooks/trace'
import { listResources } from '#library/skill-files'
import { stepOfKey, wholeChain } from '#chain/plan-model'
import type { DoneRecord, RunJournal } from '#chain/run-journal'
import { statusOfRun } from '#chain/step-result'
import { openProject, type RunContext } from './chains.ts'
import { type InstalledSkill, skillsFor } from './skills.ts'
import { claudeTranscripts } from './transcripts/claude.ts'
import { codexTranscripts } from './transcripts/codex.ts'
import { jsonLines } from './transcripts/json-lines.ts'
import {
  addTokens,
  type FileEvent,
  noTokens,
  type TokenEvent,
  type Tokens,
  type TranscriptEvent,
  type TranscriptFormat,
} from './transcripts/transcript.ts'
import { SkillFiles, type UsedFile } from './used-files.ts'

export interface UsageQuestion {
  /** Milliseconds since the epoch. */
  since: number
  /** Only sessions in this project. */
  isProjectOnly: boolean
}

export interface Usage {
  /** ISO 8601, like every time here. */
  since: string
  /** The project that sessions are limited to. */
  project?: string | undefined
  /** Every installed skill, the most used first. */
  skills: readonly SkillUsage[]
  clients: readonly ClientUsage[]
  rails: readonly RailUsage[]
  /** Calls that guards denied in sessions without a rail. */
  deniedWithoutRail: number
  hookLog: {
    path: string
    /** The first event; undefined if the log is empty. */
    from?: string | undefined
    /** Whether events since the question may be gone, because the log keeps the newest only. */
    isShortened: boolean
    /** How many lines cannot be read. */
    unreadable: number
  }
  diagnostics: readonly Diagnostic[]
}

export interface FileUsage {
  /** How often the hook injected it. */
  given: number
  /** In how many calls of a tool the agent opened it. */
  read: number
  lastUsed?: string | undefined
}

export interface SkillUsage extends FileUsage {
  name: string
  path: string
  scope: string
  /** In how many runs of this project it was a step that ended, or the chain. */
  ran: number
  /** References, and other files that were used. */
  files: readonly (FileUsage & { path: string })[]
}

export interface ClientUsage {
  client: ClientName
  title: string
  /** `not-read`: the format of its transcripts is unknown to Skillrail. */
  transcripts: 'read' | 'not-read'
  /** Sessions with a call of a model. */
  sessions: number
  models: readonly { model: string; calls: number; tokens: Tokens }[]
  /** What the hook gave the client; `tokens` is an estimate. */
  injected: { events: number; characters: number; tokens: number }
}

export interface RailUsage {
  runId: string
  chain: string
  client: string
  /** Of the client, if it said its version. */
  version?: string | undefined
  status: string
  startedAt: string
  updatedAt: string
  /** How many calls of tools were denied. */
  denied: number
  /** How often the agent was kept working at the end of a turn: by a failed check, or by the next step. */
  keptWorking: number
  /** How often the client asked the user about a guarded call. */
  asked: number
}

/** Reports which skills were used, from the hook's log, the clients' transcripts and the project's runs. */
export async function usageOf(context: RunContext, question: UsageQuestion): Promise<Usage> {
  const { runtime } = context
  const workspace = findWorkspace(runtime.cwd, runtime)
  const isCounted = ({ at, cwd }: { at: number; cwd: string }): boolean =>
    at >= question.since && (!question.isProjectOnly || isInside(workspace, cwd))
  const { skills, diagnostics } = skillsFor(context, [])
  const uses = new SkillUses(skills, runtime.home)
  const log = readTraces(runtime, Infinity)
  const traces = log.traces.filter(({ at, cwd }) => isCounted({ at: Date.parse(at), cwd }))
  for (const trace of traces) uses.addTrace(trace)
  const transcripts = new Map<ClientName, ClientSessions>()
  for (const format of formats) {
    const sessions = new ClientSessions(isCounted)
    await readTranscripts(context, format, question.since, sessions)
    for (const event of sessions.files) uses.addRead(event)
    transcripts.set(format.client, sessions)
  }
  const { store } = openProject(context)
  const { runs, diagnostics: unreadable } = store.list()
  const recent = runs.filter(({ updatedAt }) => Date.parse(updatedAt) >= question.since)
  for (const run of recent) uses.addRun(run, workspace)
  const from = log.traces[0]?.at
  return {
    since: isoTime(question.since),
    project: question.isProjectOnly ? workspace : undefined,
    skills: uses.list(),
    clients: clientNames.flatMap((client) =>
      clientUsage(client, transcripts.get(client), traces, context),
    ),
    rails: recent.flatMap((run) => railUsage(run, traces)),
    deniedWithoutRail: traces.filter(({ rail }) => rail?.answer === 'deny' && !rail.run).length,
    hookLog: {
      path: log.path,
      from,
      isShortened: log.isShortened && from !== undefined && Date.parse(from) > question.since,
      unreadable: log.unreadable,
    },
    diagnostics: [
      ...diagnostics,
      ...unreadable,
      ...[...transcripts.values()].flatMap((sessions) => sessions.diagnostics),
    ],
  }
}

const formats: readonly TranscriptFormat[] = [claudeTranscripts, codexTranscripts]

/** Reads every transcript that was written since a moment. */
async function readTranscripts(
  { runtime, signal }: RunContext,
  format: TranscriptFormat,
  since: number,
  sessions: ClientSessions,
): Promise<void> {
  let files: string[]
  try {
    files = format.files(runtime)
  } catch (error) {
    sessions.warn(clientFolder(format.client, runtime), `cannot be listed: ${reasonOf(error)}`)
    return
  }
  for (const path of files) {
    if ((statsOf(path)?.mtimeMs ?? since) < since) continue
    signal.throwIfAborted()
    const { title } = adapters[format.client]
    let isSession = false
    let broken = 0
    try {
      for await (const event of format.read(jsonLines(path), files)) {
        isSession ||= event.kind === 'session'
        if (event.kind === 'unreadable') broken++
        else sessions.add(event)
      }
    } catch (error) {
      sessions.warn(path, `cannot be read: ${reasonOf(error)}`)
      continue
    }
    if (!isSession) sessions.warn(path, `has no session of ${title} in a known format`)
    else if (broken > 0) {
      const lines = amount(broken, 'line')
      sessions.warn(path, `has ${lines} that cannot be read or have an unknown form`)
    }
  }
}

/** What all transcripts of one client show. Sessions that were continued or copied repeat events. */
class ClientSessions {
  readonly diagnostics: Diagnostic[] = []
  readonly #isCounted: (event: TokenEvent | FileEvent) => boolean
  readonly #calls = new Map<string, TokenEvent>()
  readonly #files = new Map<string, FileEvent>()

  constructor(isCounted: (event: TokenEvent | FileEvent) => boolean) {
    this.#isCounted = isCounted
  }

  add(event: TranscriptEvent): void {
    if (event.kind === 'tokens') this.#addCall(event)
    if (event.kind === 'file' && !this.#files.has(event.id)) this.#files.set(event.id, event)
  }

  warn(path: string, problem: string): void {
    const message = `the transcript ${problem}`
    this.diagnostics.push({ code: 'transcript-unreadable', severity: 'warning', path, message })
  }

  /** A call occurs several times while its answer arrives, and the last numbers are the whole cost. */
  #addCall(event: TokenEvent): void {
    const earlier = this.#calls.get(event.id)
    if (!earlier) this.#calls.set(event.id, event)
    else if (event.tokens.output > earlier.tokens.output) earlier.tokens = event.tokens
  }

  get files(): FileEvent[] {
    return [...this.#files.values()].filter(this.#isCounted)
  }

  get sessions(): number {
    return new Set(this.#counted().map(({ session }) => session)).size
  }

  get models(): ClientUsage['models'] {
    const models = Map.groupBy(this.#counted(), ({ model }) => model)
    const rows = Array.from(models, ([model, calls]) => {
      const tokens = calls.map((call) => call.tokens).reduce(addTokens, noTokens)
      return { model, calls: calls.length, tokens }
    })
    return rows.toSorted((one, other) => compareText(one.model, other.model))
  }

  /** The client writes a row without a cost where no model answered. */
  #counted(): TokenEvent[] {
    return [...this.#calls.values()].filter((call) => {
      return this.#isCounted(call) && Object.values(call.tokens).some((tokens) => tokens > 0)
    })
  }
}

/** Clients that are here, or were here in the period. */
function clientUsage(
  client: ClientName,
  sessions: ClientSessions | undefined,
  traces: readonly HookTrace[],
  { runtime }: RunContext,
): ClientUsage[] {
  const ownTraces = traces.filter(({ platform }) => platform === client)
  const isHere = statsOf(clientFolder(client, runtime))?.isDirectory() === true
  if (ownTraces.length === 0 && !isHere) return []
  const sizes = ownTraces.map(({ injected, rail }) => {
    return injected.reduce((sum, { characters }) => sum + characters, rail?.characters ?? 0)
  })
  const characters = sizes.reduce((sum, size) => sum + size, 0)
  return [
    {
      client,
      title: adapters[client].title,
      transcripts: sessions ? 'read' : 'not-read',
      sessions: sessions?.sessions ?? 0,
      models: sessions?.models ?? [],
      injected: {
        events: sizes.filter((size) => size > 0).length,
        characters,
        tokens: Math.ceil(characters / 4),
      },
    },
  ]
}

function railUsage(journal: RunJournal, traces: readonly HookTrace[]): RailUsage[] {
  const { run, updatedAt } = journal
  if (!run.rail) return []
  const answers = traces.flatMap(({ rail }) => (rail?.run === run.runId ? rail.answer : []))
  const count = (answer: string): number => answers.filter((one) => one === answer).length
  return [
    {
      runId: run.runId,
      chain: run.skill,
      client: run.rail.client,
      version: run.rail.version,
      status: statusOfRun(journal, journal.path),
      startedAt: run.at,
      updatedAt,
      denied: count('deny'),
      keptWorking: count('block'),
      asked: count('ask'),
    },
  ]
}

interface Counts {
  given: number
  read: number
  ran: number
  last: number
}

/** Counts the uses of skills and of their files. */
class SkillUses {
  readonly #skills: readonly InstalledSkill[]
  readonly #files: SkillFiles
  readonly #uses = new Map<string, Counts>()

  constructor(skills: readonly InstalledSkill[], home: string) {
    this.#skills = skills
    this.#files = new SkillFiles(skills, home)
  }

  addTrace({ at, cwd, injected }: HookTrace): void {
    for (const { skill, path, file } of injected) {
      const injectedFile = (file && this.#files.at(file, cwd)) ?? this.#named(skill, path, file)
      if (injectedFile) this.#add(injectedFile, 'given', Date.parse(at))
    }
  }

  addRead({ at, cwd, path, command }: FileEvent): void {
    const file = path === undefined ? undefined : this.#files.at(path, cwd)
    const files = command === undefined ? [] : this.#files.inCommand(command, cwd)
    for (const one of file ? [file, ...files] : files) this.#add(one, 'read', at)
  }

  addRun({ plan, done, updatedAt }: RunJournal, workspace: string): void {
    const ended = new Set([...done.values()].filter(wasExecuted).map(({ key }) => stepOfKey(key)))
    const steps = wholeChain(plan.root).filter(
      ({ step }) => step === plan.root.step || ended.has(step),
    )
    for (const path of new Set(steps.map((step) => step.path))) {
      const file = this.#files.at(path, workspace)
      if (file) this.#add(file, 'ran', Date.parse(updatedAt))
    }
  }

  list(): SkillUsage[] {
    const rows = this.#skills.map((skill): SkillUsage => {
      const files = this.#filesOf(skill)
      const all = files.map((path) => this.#countsOf(skill.path, path))
      const last = Math.max(...all.map((counts) => counts.last))
      const sum = (kind: 'given' | 'read' | 'ran'): number =>
        all.reduce((total, counts) => total + counts[kind], 0)
      return {
        name: skill.name,
        path: skill.path,
        scope: skill.scope,
        given: sum('given'),
        read: sum('read'),
        ran: sum('ran'),
        lastUsed: last === 0 ? undefined : isoTime(last),
        files: files.map((path, index) => ({ path, ...fileUsage(all[index]) })),
      }
    })
    const uses = ({ given, read, ran }: SkillUsage): number => given + read + ran
    return rows.toSorted((one, other) => {
      return uses(other) - uses(one) || compareText(one.name, other.name)
    })
  }

  /** `SKILL.md`, the references, and other files that were used. */
  #filesOf({ path, directory, triggers }: InstalledSkill): string[] {
    const references = listResources(directory)
      .files.map((file) => file.path)
      .filter((file) => file.startsWith('references/'))
    const targets = triggers.filter(({ base }) => base === undefined).map(({ inject }) => inject)
    const usedFiles = [...this.#uses.keys()].flatMap((key) => {
      const [skill, file = ''] = key.split('\0')
      return skill === path ? file : []
    })
    const others = new Set([...references, ...targets, ...usedFiles])
    others.delete('SKILL.md')
    return ['SKILL.md', ...[...others].toSorted(compareText)]
  }

  /** A file that the log names without its place, or that a trigger injects from outside of the skill. */
  #named(name: string, path: string, file: string | undefined): UsedFile | undefined {
    const skill = this.#skills.find((one) => one.name === name)
    if (!skill) return undefined
    if (file === undefined) return this.#files.at(join(skill.directory, path), skill.directory)
    const isInjected = skill.triggers.some(
      ({ base, inject }) => base !== undefined && inject === path && join(base, path) === file,
    )
    return isInjected ? { skill: skill.path, path } : undefined
  }

  #add({ skill, path }: UsedFile, kind: 'given' | 'read' | 'ran', at: number): void {
    const counts = this.#countsOf(skill, path)
    const last = Math.max(counts.last, at)
    this.#uses.set(`${skill}\0${path}`, { ...counts, [kind]: counts[kind] + 1, last })
  }

  #countsOf(skill: string, path: string): Counts {
    return this.#uses.get(`${skill}\0${path}`) ?? { given: 0, read: 0, ran: 0, last: 0 }
  }
}

/** Not a step that was skipped or not reached, whose gate was rejected, or whose result is from another run. */
function wasExecuted({ outcome, reused }: DoneRecord): boolean {
  if (outcome.kind !== 'finished' || outcome.rejected === true || reused === true) return false
  return ['success', 'failure', 'critical'].includes(outcome.output.status)
}

function fileUsage(counts?: Counts): FileUsage {
  const { given, read, last } = counts ?? { given: 0, read: 0, last: 0 }
  return { given, read, lastUsed: last === 0 ? undefined : isoTime(last) }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
