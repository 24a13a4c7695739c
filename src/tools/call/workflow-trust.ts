import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readRegularFile, type Runtime, type Settings, sha256 } from '../../base/index.ts'
import { type AcceptedPart, type ActingPart, openTrustStore } from '../../trust/index.ts'
import { readWorkflows, type WorkflowDefinition, workflowFiles } from '../../workflow/index.ts'
import { canonicalCategory } from '../category/canonical.ts'
import { type FileTrust, fileTrust } from '../config/file-trust.ts'
import type { ServerBlock } from '../config/model.ts'

/**
 * How far the workflows of a project are those that were accepted. Everything is read once, when it
 * is asked for.
 */
export interface WorkflowTrust {
  /**
   * Why the workflows of a file may make no calls; undefined: they may. The file may have held other
   * bytes when it was loaded than it holds now, so what was loaded is compared too.
   */
  blockOf(path: string): ServerBlock | undefined
  gone(): GoneWorkflows
}

/**
 * What a project's workflows were when its workspace was trusted, and are not any more. Nothing where
 * the caller vouches for the workspace, or nobody does.
 */
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

/** @param loaded every workflow of the project, as it was read. */
export function workflowTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
  loaded: readonly WorkflowDefinition[],
): WorkflowTrust {
  let files: FileTrust | undefined
  const asLoaded = new Map<string, boolean>()
  let texts: AcceptedTexts | undefined
  let gone: GoneWorkflows | undefined
  const trust = (): FileTrust => (files ??= fileTrust(project, runtime, workspaceTrust))
  const acceptedTexts = (): AcceptedTexts =>
    (texts ??= new Map(
      trust()
        .accepted.filter(isWorkflow)
        .map((part) => {
          const path = join(project, ...part.path.split('/'))
          return [path, textOf(part, path)]
        }),
    ))
  return {
    blockOf(path) {
      const block = trust().blockOf(path)
      if (block !== undefined || workspaceTrust === 'trusted') return block
      const known = asLoaded.get(path) ?? isAsLoaded(path, acceptedTexts().get(path), loaded)
      asLoaded.set(path, known)
      return known ? undefined : notAsLoaded(path)
    },
    gone: () => (gone ??= goneFrom(project, acceptedTexts(), loaded)),
  }

  /** As it lies there, where it is what was accepted; else as it was kept. */
  function textOf(accepted: AcceptedPart, path: string): string | undefined {
    const now = trust()
      .now()
      .find((part) => isWorkflow(part) && part.path === accepted.path)
    const isHere = now?.digest === accepted.digest && now.problem === undefined
    if (!isHere) return openTrustStore(runtime).acceptedText(accepted.digest)
    return now.text ?? textOfLongFile(path, now)
  }
}

/** The text of every file that was accepted, by path; undefined where nobody has it any more. */
type AcceptedTexts = ReadonlyMap<string, string | undefined>

function isWorkflow({ kind }: Pick<AcceptedPart, 'kind'>): boolean {
  return kind === 'workflow'
}

const maxBytes = 16 * 1024 * 1024

/** Of a file that is too long for a preview all bytes count. */
function textOfLongFile(path: string, { digest }: ActingPart): string | undefined {
  const file = readRegularFile(path, { maxBytes })
  return file.ok && sha256(file.bytes) === digest ? file.text : undefined
}

function isAsLoaded(
  path: string,
  text: string | undefined,
  loaded: readonly WorkflowDefinition[],
): boolean {
  if (text === undefined) return false
  const { workflows } = readWorkflows([{ path, text }], { canonicalCategory })
  const accepted = new Map(workflows.map((workflow) => [workflow.name, workflow]))
  return loaded
    .filter((workflow) => workflow.path === path)
    .every((workflow) => isSameWorkflow(workflow, accepted.get(workflow.name)))
}

/** Whoever can change a project can also take a workflow away: what was accepted stays in force. */
function goneFrom(
  project: string,
  texts: AcceptedTexts,
  loaded: readonly WorkflowDefinition[],
): GoneWorkflows {
  const [unknown] = [...texts].find(([, text]) => text === undefined) ?? []
  const files = workflowFiles(project).flatMap(({ path }) => {
    const text = texts.get(path)
    return text === undefined ? [] : [{ path, text }]
  })
  const accepted = readWorkflows(files, { canonicalCategory }).workflows
  const inForce = new Map(loaded.map((workflow) => [workflow.name, workflow]))
  const workflows = accepted
    .filter(({ enabled, mode }) => enabled && mode !== 'suggest')
    .filter((workflow) => !isSameWorkflow(workflow, inForce.get(workflow.name)))
  return { accepted, loaded, workflows, unknown }
}

/** The line is left out: of a tool cache only the workflows are kept as text. */
export function isSameWorkflow(a: WorkflowDefinition, b: WorkflowDefinition | undefined): boolean {
  return isDeepStrictEqual({ ...a, line: undefined }, { ...b, line: undefined })
}

function notAsLoaded(path: string): ServerBlock {
  return {
    reason: 'changed',
    message: `what was read from ${path} is not what was accepted when the workspace was trusted`,
    hint: 'Start again, so that the file is read anew. To see what it holds: skillrail trust',
  }
}
