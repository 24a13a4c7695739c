import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Ancestry, ancestryOf } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import { findWorkspace, isInside, readRegularFile, resolveInside } from '#core/read-files'
import { type Diagnostic, SkillrailError } from '#core/errors'
import { hexDigest } from '#core/json'
import { packageVersion } from '#core/runtime'
import { type ChainProject, linesAgain, openProject, planNamed } from '#project/chains'
import { type ListedRail, listedRail, type ListedRun, listedRun } from '#chain/listed-run'
import { readResult } from '#chain/run-chain'
import type { RunStore } from '#chain/run-store'
import { statusOfRun } from '#chain/step-result'
import { adapters, platforms } from '#hooks/adapters'
import { readTraces } from '#hooks/trace'
import { skillsFor } from '#project/skills'
import { listSkills } from '#project/list-skills'
import { listedRails } from '#rail/listed-rails'
import { showSkill, skillFacts } from '#project/show-skill'
import { type DiscoverOptions, discoverOptionsFrom, discoverSkills } from '#library/discover'
import { type BrokenSkill, type Discovery, maxSkillBytes, type SkillInfo } from '#library/model'
import { defaultChainPolicy, policyKey } from '#skill/declarations'
import { skillVerdict } from '#project/verdicts'
import { SkillLoadError, SkillNotFoundError } from '#skill/errors'
import { serverConfiguration, toolProject } from '#tools/project-tools'
import { serverRows } from '#tools/server/server-rows'
import { cautionText, hintText, toolFacts } from '#tools/tool-facts'
import { listWorkflows } from '#tools/workflow/project-workflows'
import { describeParameters } from '#tools/cache/describe-parameters'
import { loadToolIndex } from '#tools/cache/tool-index'
import { collectSkillParts } from '#trust/acting-parts'
import { ToolError } from '#tools/errors'
import { toolNotFound } from '#tools/call/find-tool'
import { unaskedServers } from '#tools/server/errors'
import { matchCallWhileTyping, matchWhileTyping } from '#project/injection'
import type { RunResult } from '#chain/engine'
import type { RunJournal } from '#chain/run-journal'
import { stepsOnOtherFiles } from '#project/step-trees'
import { decideAsShown, shownGates } from '#project/view-approvals'
import type { McpCall, ToolCall } from '#trigger/tool-call'
import type { Answers } from './answers.ts'
import { projectOverview, trustNow } from './overview.ts'
import { type Caller, type QuestionFields, textPiece, wrongField } from './questions.ts'
import { graphOf, runAnswer, type RunShownNow, stepPiece } from './run-answer.ts'

/** The answers to the questions of the page. */
export type ProjectView = {
  [Name in keyof Answers]: (
    asked: QuestionFields,
    caller?: Caller,
  ) => Answers[Name] | Promise<Answers[Name]>
}

interface ViewSurroundings {
  /** Whether an agent client has started this process. */
  starter?: Ancestry
  /** Called with the rest of a run that continues in this process after a decision. */
  onWork?: ((work: Promise<unknown>) => void) | undefined
}

/**
 * Returns the answers about a project, by the name of the question. Only `decide` changes something; no
 * answer starts a server or calls a tool. Throws a `SkillrailError` if there is no answer.
 */
export function projectView(
  callContext: Context,
  { starter = ancestryOf(callContext.runtime, process.pid), onWork }: ViewSurroundings = {},
): ProjectView {
  const context = silentContext(callContext)
  const { runtime } = context
  return {
    project: () => ({ project: findWorkspace(runtime.cwd, runtime), version: packageVersion() }),
    overview: () => overview(context),
    ...skillAnswers(context),
    ...runAnswers(context, starter),
    decide: decideIn(context, { starter, onWork }),
    ...toolAnswers(context),
  }
}

function silentContext(context: Context): Context {
  const ignore = (): void => undefined
  const { runtime, globals } = context
  return {
    ...context,
    /** Read for each answer, so that a restriction counts as soon as it is written. */
    get settings() {
      return settingsOfCall(runtime, globals).settings
    },
    interactive: false,
    note: ignore,
    diagnose: ignore,
    emit: ignore,
    ask: ({ otherwise }) => Promise.reject(otherwise()),
  }
}

async function overview(context: Context): Promise<Answers['overview']> {
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

/** The text of the triggers tab as a tool call; undefined if it is a prompt. */
function typedCall(on: string, line: string): ToolCall | McpCall | undefined {
  if (on === 'mcp') return { kind: on, tool: line.trim() }
  if (on === 'shell') return { kind: on, paths: [], command: line }
  return on === 'edit' || on === 'read'
    ? { kind: on, paths: [line.trim()], command: '' }
    : undefined
}

type SkillQuestion = 'skills' | 'skill' | 'skill-text' | 'match' | 'triggers' | 'chains' | 'plan'

function skillAnswers(context: Context): Pick<ProjectView, SkillQuestion> {
  const options = (): DiscoverOptions => discoverOptionsFrom(context.runtime, context.settings)
  return {
    skills: () => skillList(context),
    /** `id` is the ID in the list of skills. */
    skill: ({ text }: QuestionFields) =>
      skillAnswer(findInfo(text('id'), discoverSkills(options())), options()),
    'skill-text': ({ text, number }: QuestionFields) =>
      textPiece(textOf(findAny(text('id'), discoverSkills(options())).path), number('from')),
    match: async ({ text }: QuestionFields) => {
      const [prompt, on] = [text('prompt'), text('on')]
      const call = prompt.trim() === '' ? undefined : typedCall(on, prompt)
      return call ? await matchCallWhileTyping(context, call) : matchWhileTyping(context, prompt)
    },
    triggers: () => triggersAndLog(context),
    chains: () => ({
      chains: discoverSkills(options()).skills.flatMap((info) => {
        const { name, description, path, trustLevel, fields } = info
        if (!fields.chain) return []
        const steps = fields.chain.steps.length
        return [{ id: idOf(path), name, description, steps, trust: trustLevel }]
      }),
    }),
    plan({ text }: QuestionFields) {
      const { directory } = findInfo(text('id'), discoverSkills(options()))
      const { plan, diagnostics } = planNamed(openProject(context), directory, { set: [] })
      const { skill, digest, root } = plan
      const policy = Object.entries(root.policy)
        .filter(([field, value]) => value !== usual[field])
        .map(([field, value]): [string, string] => [policyKey(field), String(value)])
      return { skill, digest, policy, graph: graphOf(root), diagnostics }
    },
  }
}

const usual: Readonly<Record<string, unknown>> = { ...defaultChainPolicy }

function triggersAndLog(context: Context): Answers['triggers'] {
  const { runtime } = context
  const { skills, diagnostics } = skillsFor(context, [])
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { traces, path } = readTraces(runtime, maxTraces)
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

const maxTraces = 200

function idOf(path: string): string {
  return hexDigest(path, 16)
}

async function skillList(context: Context): Promise<Answers['skills']> {
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

async function skillAnswer(info: SkillInfo, options: DiscoverOptions): Promise<Answers['skill']> {
  const { runtime } = options
  const skill = showSkill(info, options)
  const parts = collectSkillParts(findWorkspace(runtime.cwd, runtime), info)
  return {
    ...skill,
    id: idOf(skill.path),
    facts: skillFacts(skill).filter(([label]) => label !== 'trust' && label !== 'trigger'),
    acting: parts.map(({ kind, path, text = path }) => ({
      kind,
      what: kind === 'script' ? path : text,
    })),
    clients: clientTitles(skill.clients),
    diagnostics: (await skillVerdict(skill.path, runtime)).diagnostics,
  }
}

function findInfo(id: string, discovery: Discovery): SkillInfo {
  const match = findAny(id, discovery)
  if ('fields' in match) return match
  const { path, diagnostics } = match
  throw new SkillLoadError({
    code: 'skill-unusable',
    message: `the skill in ${path} cannot be used: ${diagnostics[0]?.message ?? ''}`,
    diagnostics,
  })
}

function findAny(
  id: string,
  { skills, shadowed, conflicts, broken }: Discovery,
): SkillInfo | BrokenSkill {
  const all: (SkillInfo | BrokenSkill)[] = [...skills, ...shadowed, ...conflicts, ...broken]
  const skill = all.find(({ path }) => idOf(path) === id)
  if (skill) return skill
  throw new SkillNotFoundError({
    code: 'skill-not-found',
    message: 'there is no such skill any more',
    hint: 'Read the list again: it may have been moved or removed.',
  })
}

/** @throws {SkillLoadError} if it cannot be read, or is a link that leads out of the skill's folder. */
function textOf(path: string): string {
  const inside = resolveInside(dirname(path), basename(path))
  const reading = inside.ok
    ? readRegularFile(inside.path, { maxBytes: maxSkillBytes, followSymlinks: false })
    : inside
  if (reading.ok) return reading.text
  throw new SkillLoadError({ code: reading.code, message: reading.message })
}

const maxRuns = 1000

/** The page asks every second, and Git looks at the whole working tree for each comparison. */
const comparisonPauseMs = 5000

function runAnswers(
  context: Context,
  starter: Ancestry,
): Pick<ProjectView, 'runs' | 'run' | 'step-text'> {
  const storeNow = (): RunStore => openProject(context).store
  // The page asks repeatedly, so a journal is read again only after a change.
  const rows = new Map<string, { mtimeMs: number | undefined; row: ListedRun }>()

  const { workspace } = openProject(context)
  const railsNow = () => listedRails(workspace, context.runtime)

  const rowOf = (
    store: RunStore,
    runId: string,
    rail: ListedRail | undefined,
  ): ListedRun | Diagnostic => {
    const path = store.pathOf(runId)
    const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    const cached = rows.get(path)
    // An open rail changes without its journal.
    if (cached && cached.mtimeMs === mtimeMs && !rail) return cached.row
    try {
      const journal = store.read(runId)
      const row = listedRun(journal, { rail })
      if (row.status !== 'running' && !rail) rows.set(path, { mtimeMs, row })
      return row
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      const { code, message, hint } = error
      return { code, severity: 'error', message, path, hint }
    }
  }
  let compared: { journal: string; at: number; steps: readonly string[] } | undefined
  const comparedSteps = (
    project: ChainProject,
    journal: RunJournal,
    result: RunResult,
  ): readonly string[] => {
    const name = `${journal.path} ${journal.updatedAt}`
    const now = context.runtime.elapsed()
    if (compared?.journal !== name || now - compared.at > comparisonPauseMs) {
      compared = { journal: name, at: now, steps: stepsOnOtherFiles(project, journal, result) }
    }
    return compared.steps
  }
  const standing = async (runId: string): Promise<RunShownNow> => {
    const project = openProject(context)
    const journal = project.store.read(runId)
    const running = statusOfRun(journal, journal.path) === 'running'
    const result = await readResult(journal, context.runtime)
    const status = running ? 'running' : result.status
    const rail = listedRail(journal, railsNow().get(runId))
    const gates = status === 'waiting' ? await shownGates(project, journal, { view: starter }) : []
    const onOtherFiles = gates.length === 0 ? [] : comparedSteps(project, journal, result)
    return {
      journal,
      result,
      status,
      rail,
      gates,
      onOtherFiles,
      line: linesAgain(context),
      settings: context.settings,
    }
  }

  return {
    runs({ number }: QuestionFields) {
      const store = storeNow()
      const ids = store.ids()
      const most = Math.min(number('most'), maxRuns)
      const rails = railsNow()
      const listed = ids.slice(0, most).map((runId) => rowOf(store, runId, rails.get(runId)))
      return {
        runs: listed.filter((row) => 'runId' in row),
        total: ids.length,
        diagnostics: listed.filter((row) => 'severity' in row),
      }
    },
    run: async ({ text }: QuestionFields) => runAnswer(await standing(text('id'))),
    'step-text': async (asked: QuestionFields) =>
      stepPiece((await standing(asked.text('id'))).result, asked),
  }
}

/** Decides about a gate as the page showed it; the run continues in this process. */
function decideIn(
  context: Context,
  { starter, onWork }: ViewSurroundings & { starter: Ancestry },
): ProjectView['decide'] {
  return async ({ text }, caller) => {
    const decision = text('decision')
    if (decision !== 'approve' && decision !== 'reject') {
      throw wrongField('decision', 'approve or reject')
    }
    const approved = decision === 'approve'
    const reason = text('reason').trim()
    const shown = {
      runId: text('id'),
      key: text('key'),
      planDigest: text('planDigest'),
      stateDigest: text('stateDigest'),
      shownDigest: text('shownDigest'),
      approved,
      reason: reason === '' ? undefined : reason,
    }
    const { ended } = await decideAsShown(openProject(context), shown, {
      view: starter,
      browser: caller?.ancestry() ?? { kind: 'unknown' },
      isDriven: text('driven') !== '',
    })
    onWork?.(ended)
    return { approved }
  }
}

function toolAnswers(context: Context): Pick<ProjectView, 'tools' | 'tool' | 'workflows'> {
  const { runtime } = context
  const project = toolProject(context)
  return {
    async tools() {
      const { index, state, message, diagnostics } = loadToolIndex({ project, runtime })
      const { servers, diagnostics: configured } = serverConfiguration(context)
      return {
        state,
        message,
        refreshedAt: index?.refreshedAt,
        servers: await serverRows(context, servers),
        tools: (index?.tools ?? []).map((tool) => {
          return { ...tool, caution: index?.caution(tool.id)?.kind }
        }),
        diagnostics: [...diagnostics, ...configured],
      }
    },
    tool({ text }: QuestionFields) {
      const { index } = loadToolIndex({ project, runtime })
      if (!index) throw unaskedServers(serverConfiguration(context)) ?? notKnown()
      const tool = index.tool(text('id'))
      if (!tool) throw toolNotFound(text('id'), index.tools)
      const definition = index.reviewed(tool.id)
      const { caution, ...facts } = toolFacts(tool, index, project)
      return {
        ...facts,
        definition,
        hints: hintText(definition),
        parameters: definition && describeParameters(definition.inputSchema),
        caution: caution && cautionText(caution, definition),
      }
    },
    workflows: () => listWorkflows(context),
  }
}

function notKnown(): ToolError {
  return new ToolError({
    code: 'tools-not-known',
    message: 'the tools are not known yet',
    hint: '`skillrail tools refresh` asks the servers for theirs.',
  })
}
