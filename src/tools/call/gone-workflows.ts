import { join } from 'node:path'
import type { Runtime, Settings } from '../../base/index.ts'
import {
  type AcceptedPart,
  collectActingParts,
  openTrustStore,
  readTrustPolicy,
} from '../../trust/index.ts'
import {
  matchWorkflows,
  readWorkflows,
  type WorkflowDefinition,
  workflowFiles,
  type WorkflowTool,
} from '../../workflow/index.ts'
import { canonicalCategory } from '../category/canonical.ts'
import { acceptingHint } from '../config/file-trust.ts'
import type { CallToForesee } from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { isSameWorkflow, textOfPart } from './loaded-workflow.ts'
import { gatedCall } from './workflow-gate.ts'

/** What a project's workflows were when its workspace was trusted, and are not any more. */
export interface GoneWorkflows {
  /** Everything that was accepted, in its order, as it was then. */
  accepted: readonly WorkflowDefinition[]
  /** Everything that was read now. */
  loaded: readonly WorkflowDefinition[]
  /** Definitions that would act, and were removed, changed or hidden behind another of their name. */
  workflows: readonly WorkflowDefinition[]
  /** A file that is not as accepted, and whose accepted text was not kept. */
  unknown: string | undefined
}

const none: GoneWorkflows = { accepted: [], loaded: [], workflows: [], unknown: undefined }

/**
 * Whoever can change a project can also take a workflow away: what was accepted stays in force until
 * the change is accepted too. Nothing where the caller vouches for the workspace, or nobody does.
 */
export function goneWorkflows(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
  loaded: readonly WorkflowDefinition[],
): GoneWorkflows {
  if (workspaceTrust === 'trusted') return none
  const { workspace, acceptance } = readTrustPolicy(runtime, { workspace: project }).policy
  const accepted = (acceptance?.parts ?? []).filter(isOfWorkspace)
  if (accepted.length === 0) return none
  const store = openTrustStore(runtime)
  const now = collectActingParts(workspace, []).filter(isOfWorkspace)
  const texts = new Map<string, string | undefined>()
  for (const part of accepted) {
    const current = now.find(({ path }) => path === part.path)
    const path = join(project, ...part.path.split('/'))
    const isHere = current?.digest === part.digest && current.problem === undefined
    texts.set(path, isHere ? textOfPart(path, current) : store.acceptedText(part.digest))
  }
  const [unknown] = [...texts].find(([, text]) => text === undefined) ?? []
  const files = workflowFiles(project).flatMap(({ path }) => {
    const text = texts.get(path)
    return text === undefined ? [] : [{ path, text }]
  })
  const before = readWorkflows(files, { canonicalCategory }).workflows
  const inForce = new Map(loaded.map((workflow) => [workflow.name, workflow]))
  const gone = before
    .filter(({ enabled, mode }) => enabled && mode !== 'suggest')
    .filter((workflow) => !isSameWorkflow(workflow, inForce.get(workflow.name)))
  return { accepted: before, loaded, workflows: gone, unknown }
}

/**
 * @throws {ToolRefusedError} for a call that a workflow stood before which is gone, and for every call
 *   where nobody knows what is gone.
 */
export function refuseWithoutGone(
  call: CallToForesee,
  { accepted, loaded, workflows, unknown }: GoneWorkflows,
  installed: readonly WorkflowTool[],
): void {
  if (unknown !== undefined) {
    throw new ToolRefusedError({
      code: 'workflow-not-trusted',
      message: `nothing is called, because ${unknown} held workflows when the workspace was trusted and has changed since`,
      hint: acceptingHint,
    })
  }
  const gated = gatedCall(call)
  const removed = workflows.find((workflow) => {
    const { matched, notInstalled } = matchWorkflows(gated, [workflow], installed)
    return matched !== undefined || notInstalled.length > 0
  })
  const standing = removed ?? overtaken()
  if (standing === undefined) return
  throw new ToolRefusedError({
    code: 'workflow-not-trusted',
    message: `Workflow '${standing.name}' must run first: what was read from ${standing.path} is not what was accepted when the workspace was trusted`,
    hint: acceptingHint,
  })

  /** The one that stood first as accepted, where another has come before it. */
  function overtaken(): WorkflowDefinition | undefined {
    const first = matchWorkflows(gated, accepted, installed).matched
    if (first === undefined || first.mode === 'suggest') return undefined
    return isSameWorkflow(first, matchWorkflows(gated, loaded, installed).matched)
      ? undefined
      : first
  }
}

function isOfWorkspace({ owner, kind }: Pick<AcceptedPart, 'owner' | 'kind'>): boolean {
  return owner === '' && kind === 'workflow'
}
