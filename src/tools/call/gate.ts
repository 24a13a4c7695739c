import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Diagnostic } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { sha256 } from '#core/json'
import type { AcceptedPart, ActingKind } from '#trust/model'
import { acceptedPlacements } from '#trust/workspace-files'
import { TrustStore } from '#trust/store'
import { afterCall, inTurnWhereStateful, runGate, type GateOptions } from '#tools/workflow/gate'
import type { GatedCall, WorkflowDefinition, WorkflowTool } from '#tools/workflow/model'
import { matchWorkflows } from '#tools/workflow/match'
import { planGate } from '#tools/workflow/plan'
import { readWorkflows, workflowFiles, workflowsPath } from '#tools/workflow/read-workflows'
import { readableCachePath } from '#tools/cache/stored-tools'
import { canonicalCategory } from '#tools/category/categorise'
import { acceptingHint, type FileTrust, fileTrust } from '#tools/config/read-configuration'
import type { ServerBlock } from '#tools/config/model'
import type { ServerFailure } from '#tools/model'
import type { CallGate, CallIndex } from './context.ts'
import { ToolRefusedError } from '#tools/errors'
import { isDeclaredReadOnly, type ToolPermissions } from '#tools/workflow/match'

/** Without `ask` the steps of a `warn` workflow run. */
interface ProjectGateOptions extends Pick<
  GateOptions,
  'workflows' | 'session' | 'ask' | 'skipPrerequisites' | 'note'
> {
  project: string
  runtime: Runtime
  workspaceTrust: Settings['workspaceTrust']
  diagnostics: readonly Diagnostic[]
  /** Read at every call: discovery may replace it. */
  index: () => CallIndex
  /** The servers that could not be listed, so that it is not known which tools they have. */
  failures: () => readonly UnlistedServer[]
  permissions?: ToolPermissions | undefined
  /** Where it was read already. */
  trust?: WorkflowTrust | undefined
}

type UnlistedServer = Pick<ServerFailure, 'server' | 'message'>

/**
 * The gate before every call of a project's tools. Its workflows act only as far as the project is
 * trusted; while one of them cannot be read nothing is called, since it may forbid the call.
 */
export function projectGate(options: ProjectGateOptions): CallGate {
  const { project, runtime, workspaceTrust, workflows, diagnostics, session } = options
  const { index, failures, skipPrerequisites, permissions } = options
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem) {
    const refuse = (): Promise<never> => Promise.reject(unreadable(problem, project))
    return { pass: refuse, foresee: refuse, after: () => Promise.resolve() }
  }
  const trust = options.trust ?? workflowTrust(project, runtime, workspaceTrust, workflows)
  const installed = (): WorkflowTool[] =>
    index().tools.map((tool) => {
      const readOnly = tool.readOnly || isDeclaredReadOnly(tool.id, permissions)
      return { ...tool, readOnly }
    })
  const binding = workflows.filter(
    ({ mode }) => mode === 'enforce' || (mode === 'warn' && skipPrerequisites !== true),
  )
  /** Refuses what cannot be called, whatever its workflows would do first. */
  const refuseUnguarded = (call: GatedCall): void => {
    refuseWithoutGone(call, trust.gone(), installed())
    for (const workflow of lostWorkflows(call, binding, installed()))
      requireTrusted(workflow, trust)
    refuseWithoutServers(call, binding, failures(), installed())
  }
  return {
    async pass(call, callStep) {
      refuseUnguarded(call)
      if (workflows.length === 0) return
      await runGate(call, {
        ...options,
        tools: installed(),
        callStep,
        permit: (workflow) => requireTrusted(workflow, trust),
        signal: call.signal,
      })
    },
    async foresee(call) {
      refuseUnguarded(call)
      const { state } = await session.read()
      const { others, ...first } = planGate(call, workflows, state, installed())
      const foreseen = [first, ...others].flatMap(({ workflow, steps }) => {
        const open = steps
          .filter(({ status }) => ['run', 'waits', 'blocked'].includes(status))
          .map(({ step, tool, id, params, required }) => ({ step, tool, id, params, required }))
        if (!workflow || open.length === 0) return []
        const { name, mode, path } = workflow
        const acts = mode === 'enforce' || skipPrerequisites !== true
        if (mode !== 'suggest' && acts) requireTrusted({ name, path }, trust)
        return [{ workflow: name, mode, prerequisites: acts ? open : [] }]
      })
      const [one] = foreseen
      const same = foreseen.filter(({ mode }) => mode === one?.mode)
      return one && { ...one, prerequisites: same.flatMap((each) => each.prerequisites) }
    },
    lacks(call) {
      if (binding.length === 0) return false
      return matchWorkflows(call, binding, installed()).notInstalled.length > 0
    },
    inTurn: (call, work) =>
      inTurnWhereStateful(call, work, { session, workflows, tools: installed() }),
    async after(call, text) {
      if (workflows.length > 0) await afterCall(call, session, workflows, text)
    },
  }
}

/** Why nothing is called. A tool cache that cannot be read is made again by a refresh. */
export function unreadable({ code, path, line }: Diagnostic, project: string): ToolRefusedError {
  const at = line === undefined ? path : `${path}:${line}`
  const isUnreadable = code === 'workflows-syntax' || code.startsWith('file-')
  const isCache = isUnreadable && path !== workflowsPath(project)
  const what = isCache
    ? `the tool cache ${at} cannot be read and may hold a workflow that comes first`
    : `a workflow of this project cannot be read (${at})`
  return new ToolRefusedError({
    code: 'workflows-unreadable',
    message: `nothing is called, because ${what}`,
    hint: isCache
      ? 'skillrail tools refresh moves the file aside and writes a new one; copy workflows that were in it.'
      : 'Find the errors with: skillrail tools workflow check',
  })
}

export function requireTrusted(
  { name, path }: Pick<WorkflowDefinition, 'name' | 'path'>,
  { blockOf }: Pick<WorkflowTrust, 'blockOf'>,
): void {
  const block = blockOf(path)
  if (!block) return
  const message = `Workflow '${name}' must run first and may not: ${block.message}`
  throw new ToolRefusedError({ code: 'workflow-not-trusted', message, hint: block.hint })
}

/** The workflows that match a call and need a tool that nobody here has. */
function lostWorkflows(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): WorkflowDefinition[] {
  const { notInstalled } = matchWorkflows(call, workflows, installed)
  const names = notInstalled.map(({ workflow }) => workflow)
  return workflows.filter(({ name }) => names.includes(name))
}

/**
 * Refuses a call whose workflow needs a tool that nobody here has, while a server cannot be listed
 * that may have it. A workflow whose tools no server has is reported and lets the call pass.
 */
export function refuseWithoutServers(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  failures: readonly UnlistedServer[],
  installed: readonly WorkflowTool[],
): void {
  if (failures.length === 0) return
  const [lost] = matchWorkflows(call, workflows, installed).notInstalled
  if (!lost) return
  const reasons = failures.map(({ server, message }) => `${server} cannot be used: ${message}`)
  throw new ToolRefusedError({
    code: 'workflow-servers',
    message: `Workflow '${lost.workflow}' must run first and cannot: it needs ${lost.missing.join(', ')}, and ${reasons.join('; ')}`,
    hint: 'Check them with: skillrail tools servers',
  })
}

/**
 * Refuses a call that a removed workflow matched, and all where it is not known what was removed.
 */
export function refuseWithoutGone(
  call: GatedCall,
  { accepted, loaded, workflows, unknown, moved }: GoneWorkflows,
  installed: readonly WorkflowTool[],
): void {
  if (unknown !== undefined) {
    throw notTrusted(
      `nothing is called, because ${unknown} held workflows or categories when the workspace was trusted and has changed since`,
    )
  }
  refuseMoved(call, moved, accepted, installed)
  const first = matchWorkflows(call, accepted, installed).matched
  const now = matchWorkflows(call, loaded, installed).matched
  // The accepted one that came first, where another now precedes it.
  const overtaken = !first || isSameWorkflow(first, now) ? undefined : first
  const missing =
    workflows.find((workflow) => {
      const { matched, notInstalled } = matchWorkflows(call, [workflow], installed)
      return matched !== undefined || notInstalled.length > 0
    }) ?? (overtaken?.mode === 'suggest' ? undefined : overtaken)
  if (!missing) return
  throw notTrusted(
    `Workflow '${missing.name}' must run first: what was read from ${missing.path} is not what was accepted when the workspace was trusted`,
  )
}

function notTrusted(message: string): ToolRefusedError {
  return new ToolRefusedError({ code: 'workflow-not-trusted', message, hint: acceptingHint })
}

/** Throws for a tool that another category keeps from a workflow that stood before it. */
function refuseMoved(
  gated: GatedCall,
  moved: ReadonlyMap<string, string>,
  accepted: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): void {
  const { id, category: now } = gated.tool
  const category = moved.get(id)
  if (category === undefined) return
  const namesIn = (tool: WorkflowTool): string[] => {
    const { matched, also } = matchWorkflows({ ...gated, tool }, accepted, installed)
    return matched ? [matched.name, ...also] : []
  }
  const still = namesIn(gated.tool)
  const lost = namesIn({ ...gated.tool, category }).filter((name) => !still.includes(name))
  const missing = accepted.find(({ name, mode }) => lost.includes(name) && mode !== 'suggest')
  if (!missing) return
  throw notTrusted(
    `Workflow '${missing.name}' must run first: ${id} was in the category ${category} when the workspace was trusted, and is in ${now ?? 'none'} now`,
  )
}

/** How far the workflows of a project are those that were accepted. Read once, on demand. */
export interface WorkflowTrust {
  /** Why the workflows of a file, as they were loaded, may make no calls; undefined: they may. */
  blockOf(path: string): ServerBlock | undefined
  gone(): GoneWorkflows
}

/** Accepted workflows that are gone. They stay in force also if the caller vouches for the workspace. */
export interface GoneWorkflows {
  accepted: readonly WorkflowDefinition[]
  loaded: readonly WorkflowDefinition[]
  workflows: readonly WorkflowDefinition[]
  /** A file that is not as accepted, and whose accepted text was not kept. */
  unknown: string | undefined
  /** Tools that are in another category now, with the accepted one. */
  moved: ReadonlyMap<string, string>
}

export function workflowTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
  loaded: readonly WorkflowDefinition[],
): WorkflowTrust {
  let files: FileTrust | undefined
  let texts: AcceptedTexts | undefined
  let gone: GoneWorkflows | undefined
  const trust = () => (files ??= fileTrust(project, runtime, workspaceTrust))
  const acceptedTexts = () => (texts ??= textsOf('workflow'))
  return {
    blockOf(path) {
      const block = trust().blockOf(path)
      if (block || workspaceTrust === 'trusted') return block
      if (isAsLoaded(path, acceptedTexts().get(path), loaded)) return undefined
      return {
        reason: 'changed',
        message: `what was read from ${path} is not what was accepted when the workspace was trusted`,
        hint: 'Start again to read the file again. Show its content with: skillrail trust',
      }
    },
    gone: () => (gone ??= { ...goneFrom(project, acceptedTexts(), loaded), ...placements() }),
  }

  function textsOf(kind: ActingKind): AcceptedTexts {
    const parts = trust().accepted.filter((part) => part.kind === kind)
    return new Map(
      parts.map((part) => {
        const path = join(project, ...part.path.split('/'))
        return [path, textOf(part, path)]
      }),
    )
  }

  /** A category has an effect only through workflows. */
  function placements(): Partial<GoneWorkflows> & Pick<GoneWorkflows, 'moved'> {
    if (!trust().accepted.some(({ kind }) => kind === 'workflow')) return { moved: new Map() }
    const categories = textsOf('category')
    const [unknown] = [...categories].find(([, text]) => text === undefined) ?? []
    const cache = readableCachePath(project)
    const now = trust().now()
    const read = now.find(({ kind, path }) => kind === 'category' && join(project, path) === cache)
    const placed = acceptedPlacements(read?.text ?? '')
    const moved = [...categories.values()]
      .toReversed()
      .flatMap((text = '') => [...acceptedPlacements(text)])
      .filter(([id, name]) => placed.get(id) !== name)
      .map(([id, name]): [string, string] => [id, canonicalCategory(name)])
    return { ...(unknown === undefined ? {} : { unknown }), moved: new Map(moved) }
  }

  function textOf({ kind, path: name, digest }: AcceptedPart, path: string): string | undefined {
    const now = trust()
      .now()
      .find((part) => part.kind === kind && part.path === name)
    const isHere = now?.digest === digest && now.problem === undefined
    if (!isHere) return new TrustStore(runtime).texts.read(digest)
    if (now.text !== undefined) return now.text
    // Of a file that is too long for a preview all bytes count.
    const file = readRegularFile(path, { maxBytes })
    return file.ok && sha256(file.bytes) === now.digest ? file.text : undefined
  }
}

/** The text of every accepted file by path; undefined where it was not kept. */
type AcceptedTexts = ReadonlyMap<string, string | undefined>

const maxBytes = 16 * 1024 * 1024

function isAsLoaded(path: string, text: string | undefined, loaded: readonly WorkflowDefinition[]) {
  if (text === undefined) return false
  const { workflows } = readWorkflows([{ path, text }])
  const accepted = new Map(workflows.map((workflow) => [workflow.name, workflow]))
  return loaded
    .filter((workflow) => workflow.path === path)
    .every((workflow) => isSameWorkflow(workflow, accepted.get(workflow.name)))
}

/** Whoever can change a project can remove a workflow: what was accepted stays in force. */
function goneFrom(project: string, texts: AcceptedTexts, loaded: readonly WorkflowDefinition[]) {
  const [unknown] = [...texts].find(([, text]) => text === undefined) ?? []
  const files = workflowFiles(project).flatMap(({ path }) => {
    const text = texts.get(path)
    return text === undefined ? [] : [{ path, text }]
  })
  const accepted = readWorkflows(files).workflows
  const inForce = new Map(loaded.map((workflow) => [workflow.name, workflow]))
  const workflows = accepted
    .filter(({ enabled, mode }) => enabled && mode !== 'suggest')
    .filter((workflow) => !isSameWorkflow(workflow, inForce.get(workflow.name)))
  return { accepted, loaded, workflows, unknown }
}

/** The line is left out: of a tool cache only the workflows are kept as text. */
function isSameWorkflow(a: WorkflowDefinition, b: WorkflowDefinition | undefined): boolean {
  return isDeepStrictEqual({ ...a, line: undefined }, { ...b, line: undefined })
}
