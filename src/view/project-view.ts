import { existsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Context } from '../core/command.ts'
import { auditSkill } from '../audit/audit-skill.ts'
import { findWorkspace, isInside, readRegularFile, resolveInside } from '../core/read-files.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import { sha256 } from '../core/json.ts'
import { SkillrailError } from '../core/errors.ts'
import { packageVersion } from '../core/runtime.ts'
import { linesAgain, openProject, planNamed } from '../chain/commands/project.ts'
import { type ListedRun, listedRun } from '../chain/commands/runs.ts'
import { readResult } from '../chain/run-chain.ts'
import type { RunJournal } from '../chain/run-journal.ts'
import { statusOfRun } from '../chain/step-result.ts'
import { adapters, platforms } from '../hooks/adapters.ts'
import { readTraces } from '../hooks/trace.ts'
import { clientsReading } from '../library/locations.ts'
import { skillsFor } from '../trigger/commands/skills.ts'
import { listSkills } from '../library/commands/list.ts'
import { showSkill, skillFacts } from '../library/commands/show.ts'
import { type DiscoverOptions, discoverOptionsFrom, discoverSkills } from '../library/discover.ts'
import {
  type BrokenSkill,
  type Discovery,
  maxSkillBytes,
  type SkillInfo,
} from '../library/model.ts'
import { defaultChainPolicy, policyKey } from '../skill/declarations.ts'
import { skillVerdict } from '../skill/commands/verdicts.ts'
import { SkillLoadError, SkillNotFoundError } from '../skill/errors.ts'
import { cautionText, guardsOf, hintText } from '../tools/commands/describe-tool.ts'
import { serverConfiguration, toolProject } from '../tools/commands/project-tools.ts'
import { routeIn, routingOf } from '../tools/commands/route.ts'
import { addressOf, knownServers, shownServer } from '../tools/commands/server-rows.ts'
import { sessionsOf, showSession } from '../tools/commands/sessions.ts'
import { listWorkflows } from '../tools/commands/workflow-list.ts'
import { describeParameters } from '../tools/cache/describe-parameters.ts'
import { loadToolIndex, type ToolIndex, type ToolIndexLoading } from '../tools/cache/tool-index.ts'
import { collectSkillParts } from '../trust/acting-parts.ts'
import { ToolError } from '../tools/errors.ts'
import { toolNotFound } from '../tools/call/find-tool.ts'
import { unaskedServers } from '../tools/server/errors.ts'
import { matchWhileTyping } from '../trigger/commands/match-while-typing.ts'
import { graphOf } from './graph.ts'
import { projectOverview, trustNow } from './overview.ts'
import type { RunShownNow } from './run-answer.ts'
import { KnownNames } from '../audit/check-names.ts'

export type ProjectView = ReturnType<typeof projectView>

/**
 * What the view shows of the project. No function changes anything, starts a server or calls a
 * tool; one without an answer throws a `SkillrailError`.
 */
export function projectView(given: Context) {
  const context = silentContext(given)
  const { runtime } = context
  return {
    project: () => ({ project: findWorkspace(runtime.cwd, runtime), version: packageVersion() }),
    overview: () => overview(context),
    ...skillAnswers(context),
    ...runAnswers(context),
    ...toolAnswers(context),
    ...workflowAnswers(context),
  }
}

function silentContext(context: Context): Context {
  const ignore = (): void => undefined
  return {
    ...context,
    interactive: false,
    note: ignore,
    diagnose: ignore,
    ask: ({ otherwise }) => Promise.reject(otherwise()),
  }
}

/** The overview of `skillrail`, with the page of the view that shows each entry. */
async function overview(context: Context) {
  const { workspace, parts } = await projectOverview(context)
  const tabs = { skills: 'skills', clients: 'triggers', runs: 'runs', servers: 'tools' } as const
  const shownParts = parts.map((part) => {
    const tab = tabs[part.name]
    const entries = part.entries.map((one) => {
      const { key = '' } = one
      return { ...one, place: key === '' ? [tab] : [tab, tab === 'skills' ? idOf(key) : key] }
    })
    return { ...part, tab, entries }
  })
  return { workspace, parts: shownParts }
}

function skillAnswers(context: Context) {
  const options = (): DiscoverOptions => discoverOptionsFrom(context.runtime, context.settings)
  return {
    skills: () => skillList(context),
    /** `id` as the list of skills has it. */
    skill: (id: string) => skillAnswer(findInfo(id, discoverSkills(options())), options()),
    /** The `SKILL.md` as it is on the disk. */
    skillText: (id: string) => textOf(findAny(id, discoverSkills(options())).path),
    audit(id: string) {
      const discovery = discoverSkills(options())
      const { directory, realDirectory } = findInfo(id, discovery)
      const skills = discovery.skills.map(({ name, realDirectory: other }) => ({
        name,
        directory: other,
      }))
      return auditSkill(directory, new KnownNames(skills), realDirectory)
    },
    match: (prompt: string) => matchWhileTyping(context, prompt),
    triggers: () => triggersAndLog(context),
    chains: () => ({
      chains: discoverSkills(options()).skills.flatMap((info) => {
        const { name, description, path, trustLevel, fields } = info
        if (fields.chain === undefined) return []
        const steps = fields.chain.steps.length
        return [{ id: idOf(path), name, description, steps, trust: trustLevel }]
      }),
    }),
    plan(id: string) {
      const { directory } = findInfo(id, discoverSkills(options()))
      const { plan, diagnostics } = planNamed(openProject(context), directory, { set: [] })
      const { skill, digest, root } = plan
      const policy = Object.entries(root.policy).map(([field, value]) => ({
        name: policyKey(field),
        value: String(value),
        isDefault: value === usual[field],
      }))
      return { skill, digest, policy, graph: graphOf(root), diagnostics }
    },
  }
}

const usual: Readonly<Record<string, unknown>> = { ...defaultChainPolicy }

/** Every trigger, and what the hook did in this project, newest first. */
function triggersAndLog(context: Context) {
  const { runtime } = context
  const { skills, diagnostics } = skillsFor(context, [])
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { traces, path } = readTraces(runtime, mostTraces)
  return {
    triggers: skills.flatMap(({ name, path: file, triggers }) =>
      triggers.map(({ match, when, inject }) => {
        const on = when?.kind === 'examples' ? when.examples.join(' | ') : match
        return { skill: name, id: idOf(file), on, kind: when?.kind ?? 'pattern', inject }
      }),
    ),
    log: traces.filter(({ cwd }) => isInside(workspace, cwd)).toReversed(),
    path,
    diagnostics,
  }
}

const mostTraces = 200

function idOf(path: string): string {
  return sha256(path).slice('sha256:'.length, 'sha256:'.length + 16)
}

/** As `list --all`, with what each skill is allowed to do now. */
async function skillList(context: Context) {
  const { skills, diagnostics, broken } = await listSkills(context, { all: true })
  const trustOf = trustNow(context)
  const found = discoverSkills(discoverOptionsFrom(context.runtime, context.settings)).skills
  const levels = new Map(found.map((info) => [info.path, trustOf(info).level]))
  const unusable = broken.map((skill) => ({
    ...skill,
    description: skill.diagnostics.find(({ severity }) => severity === 'error')?.message ?? '',
    tokens: { metadata: 0, body: 0 },
    trust: 'broken' as const,
    clients: [],
    shadows: [],
    invalid: undefined,
    standing: 'broken' as const,
  }))
  const listed = [...skills, ...unusable].map(({ standing, ...skill }) => ({
    ...skill,
    id: idOf(skill.path),
    trust: levels.get(skill.path) ?? skill.trust,
    standing: standing ?? (skill.invalid === undefined ? ('used' as const) : ('invalid' as const)),
    clients: clientTitles(skill.clients),
  }))
  return { skills: listed, diagnostics }
}

function clientTitles(clients: readonly string[]): string[] {
  return platforms.flatMap((one) => (clients.includes(one) ? [adapters[one].title] : []))
}

async function skillAnswer(info: SkillInfo, options: DiscoverOptions) {
  const { runtime } = options
  const { trust, fields, ...skill } = showSkill(info, options)
  return {
    id: idOf(skill.path),
    name: skill.name,
    description: skill.description,
    path: skill.path,
    trust,
    trustReason: skill.trustReason,
    tokens: skill.tokens,
    facts: skillFacts({ ...skill, trust, fields }).filter(
      ([label]) => label !== 'trust' && label !== 'trigger',
    ),
    /** What `trust` is about. */
    acting: collectSkillParts(findWorkspace(runtime.cwd, runtime), info).map(
      ({ kind, path, text }) => ({
        kind,
        what: kind === 'script' || text === undefined ? path : text,
      }),
    ),
    clients: clientTitles(clientsReading(skill.source)),
    triggers: fields.triggers,
    isChain: fields.chain !== undefined,
    resources: skill.resources,
    resourcesTruncated: skill.resourcesTruncated,
    shadows: skill.shadows,
    diagnostics: (await skillVerdict(skill.path, runtime)).diagnostics,
  }
}

function findInfo(id: string, discovery: Discovery): SkillInfo {
  const found = findAny(id, discovery)
  if ('fields' in found) return found
  const { path, diagnostics } = found
  throw new SkillLoadError({
    code: 'skill-unusable',
    message: `the skill in ${path} cannot be used: ${diagnostics[0]?.message ?? ''}`,
    diagnostics,
  })
}

function findAny(id: string, { skills, shadowed, conflicts, broken }: Discovery) {
  const all: (SkillInfo | BrokenSkill)[] = [...skills, ...shadowed, ...conflicts, ...broken]
  const found = all.find(({ path }) => idOf(path) === id)
  if (found !== undefined) return found
  throw new SkillNotFoundError({
    code: 'skill-not-found',
    message: 'there is no such skill any more',
    hint: 'Read the list again: it may have been moved or removed.',
  })
}

/** @throws {SkillLoadError} also for a link that leads out of the folder of the skill. */
function textOf(path: string): string {
  const inside = resolveInside(dirname(path), basename(path))
  const reading = inside.ok
    ? readRegularFile(inside.path, { maxBytes: maxSkillBytes, followSymlinks: false })
    : inside
  if (reading.ok) return reading.text
  throw new SkillLoadError({ code: reading.code, message: reading.message })
}

function runAnswers(context: Context) {
  const { store } = openProject(context)
  const line = linesAgain(context)
  // A page asks every second, and a journal that did not change is not read again.
  const rows = new Map<string, { stamp: string; value: ListedRun }>()

  /** Without reading the journal; undefined while a process seems to hold the run. */
  const stampOf = (runId: string): string | undefined => {
    const path = store.pathOf(runId)
    if (existsSync(`${path}.lock`)) return undefined
    const stats = statSync(path, { throwIfNoEntry: false })
    return `${runId} ${stats?.size} ${stats?.mtimeMs}`
  }
  const read = (runId: string): { journal: RunJournal; status: RunShownNow['status'] } => {
    const journal = store.read(runId)
    return { journal, status: statusOfRun(journal, journal.path) }
  }

  return {
    runIds: () => store.ids(),
    /** One row of the list; what is wrong with it where it cannot be read. */
    runRow(runId: string): ListedRun | Diagnostic {
      const stamp = stampOf(runId)
      const known = rows.get(runId)
      if (known !== undefined && known.stamp === stamp) return known.value
      try {
        const { journal, status } = read(runId)
        const row = listedRun(journal, status)
        if (rows.size >= mostKept) rows.clear()
        if (stamp !== undefined) rows.set(runId, { stamp, value: row })
        return row
      } catch (error) {
        if (!(error instanceof SkillrailError)) throw error
        const { code, message, hint } = error
        return { code, severity: 'error', message, path: store.pathOf(runId), hint }
      }
    },
    /** Changes whenever the run does. */
    runStamp(runId: string): string {
      const stamp = stampOf(runId)
      if (stamp !== undefined) return stamp
      const { journal, status } = read(runId)
      return `${runId} ${journal.length} ${status}`
    },
    async run(runId: string): Promise<RunShownNow> {
      const { journal, status } = read(runId)
      const result = await readResult(journal, context.runtime)
      return { journal, result, status: status === 'running' ? status : result.status, line }
    },
  }
}

const mostKept = 2000

const mostCandidates = 8

function toolAnswers(context: Context) {
  const { runtime } = context
  const project = toolProject(context)

  /** @throws {ToolError} where nothing is known, with the reason. */
  const knownIndex = (): ToolIndex => {
    const loading = loadToolIndex({ project, runtime })
    if (loading.index !== undefined) return loading.index
    throw unaskedServers(serverConfiguration(context)) ?? notKnown(loading)
  }

  return {
    async tools() {
      const loading = loadToolIndex({ project, runtime })
      const { index, state, diagnostics } = loading
      const { servers, diagnostics: configured } = serverConfiguration(context)
      const rows = await knownServers(context, servers)
      const addresses = new Map(
        servers.map((server) => [server.name, addressOf(shownServer(server))]),
      )
      return {
        state,
        message: index === undefined ? damageNote(loading) : loading.message,
        refreshedAt: index?.refreshedAt,
        servers: rows.map((row) => ({ ...row, address: addresses.get(row.name) ?? '' })),
        tools: (index?.tools ?? []).map((tool) => {
          const { id, server, name, description, category, readOnly } = tool
          const caution = index?.caution(id)?.kind
          return { id, server, name, description, category, readOnly, caution }
        }),
        diagnostics: [...diagnostics, ...configured],
      }
    },
    tool(id: string) {
      const index = knownIndex()
      const tool = index.tool(id)
      if (tool === undefined) throw toolNotFound(id, index.tools)
      const definition = index.reviewed(id)
      const caution = index.caution(id)
      return {
        id,
        server: tool.server,
        description: definition?.description ?? tool.description,
        category: tool.category,
        readOnly: tool.readOnly === true,
        hints: hintText(definition),
        parameters: definition === undefined ? [] : describeParameters(definition.inputSchema),
        isDefined: definition !== undefined,
        caution: caution === undefined ? undefined : cautionText(caution, definition),
        workflows: guardsOf(tool, index, project).map(({ name, mode }) => `${name} (${mode})`),
        examples: tool.examples ?? [],
      }
    },
    async route(request: string) {
      const routing = await routingOf(request, knownIndex(), project, context)
      return routeIn(routing, request, mostCandidates, true)
    },
  }
}

function notKnown({ state, path }: ToolIndexLoading): ToolError {
  return new ToolError({
    code: 'tools-not-known',
    message:
      state === 'corrupt'
        ? `the file that has the tools is damaged: ${path}`
        : 'the tools are not known yet',
    hint: '`skillrail tools refresh` asks the servers for theirs.',
  })
}

/** The same as a note; nothing where there is only nothing yet, which an empty list says. */
function damageNote(loading: ToolIndexLoading): string | undefined {
  const { message, hint } = notKnown(loading)
  return loading.state === 'corrupt' ? `${message}. ${hint}` : undefined
}

/** The log of a session has every call; the latest ones are what somebody looks for. */
const mostCalls = 500

function workflowAnswers(context: Context) {
  return {
    workflows: () => listWorkflows(context),
    sessions: () => sessionsOf(context),
    async session(id: string) {
      const { calls, ...details } = await showSession(context, id, mostCalls)
      return { ...details, calls: calls.toReversed() }
    },
  }
}
