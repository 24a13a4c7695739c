import { relative, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readRegularFile, type Runtime, sha256 } from '../../base/index.ts'
import { type ActingPart, collectActingParts, readTrustPolicy } from '../../trust/index.ts'
import { readWorkflows, type WorkflowDefinition } from '../../workflow/index.ts'
import { canonicalCategory } from '../category/canonical.ts'

const maxBytes = 16 * 1024 * 1024

/**
 * Whether the workflows of a file, as they were loaded, are what the accepted bytes say. The file may
 * have held other bytes when it was loaded than it holds now, so its digest alone says nothing of
 * them: the accepted text is read once more and compared with what is in memory.
 */
export function areAsAccepted(
  project: string,
  runtime: Runtime,
  path: string,
  loaded: readonly WorkflowDefinition[],
): boolean {
  const text = acceptedText(project, runtime, path)
  if (text === undefined) return false
  const { workflows } = readWorkflows([{ path, text }], { canonicalCategory })
  const accepted = new Map(workflows.map((workflow) => [workflow.name, workflow]))
  return loaded
    .filter((workflow) => workflow.path === path)
    .every((workflow) => isSameWorkflow(workflow, accepted.get(workflow.name)))
}

/** The text of the file, where it is the one that was accepted. */
function acceptedText(project: string, runtime: Runtime, path: string): string | undefined {
  const { policy } = readTrustPolicy(runtime, { workspace: project })
  const { workspace, acceptance } = policy
  const name = relative(workspace, path).split(sep).join('/')
  const isOwn = (part: { owner: string; path: string; kind: string }): boolean =>
    part.owner === '' && part.path === name && part.kind === 'workflow'
  const digest = acceptance?.parts.find(isOwn)?.digest
  const part = collectActingParts(workspace, []).find(isOwn)
  if (part === undefined || part.digest !== digest || part.problem !== undefined) return undefined
  return textOfPart(path, part)
}

/** The text of a part of the workspace. Of a file that is too long for a preview all bytes count. */
export function textOfPart(
  path: string,
  { text, digest }: Pick<ActingPart, 'text' | 'digest'>,
): string | undefined {
  if (text !== undefined) return text
  const file = readRegularFile(path, { maxBytes })
  return file.ok && sha256(file.bytes) === digest ? file.text : undefined
}

/** The line is left out: of a tool cache only the workflows are kept as text. */
export function isSameWorkflow(a: WorkflowDefinition, b: WorkflowDefinition | undefined): boolean {
  return isDeepStrictEqual({ ...a, line: undefined }, { ...b, line: undefined })
}
