import { compareText } from '../base/index.ts'
import { workspaceRelative } from './_relative.ts'
import type {
  AcceptedPart,
  Acceptance,
  ActingPart,
  PartChange,
  WorkspaceAssessment,
} from './model.ts'

/** What a part that cannot be read has for a digest. It equals nothing, not even itself. */
export const unreadableDigest = 'unreadable'

/**
 * Compares everything that acts in a workspace with what was accepted. `parts` must hold the text
 * parts exactly where `accepted.pinned` says so.
 */
export function assessWorkspace(
  accepted: Acceptance | undefined,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const changes = compareParts(accepted?.parts ?? [], parts)
  if (accepted === undefined) return { state: 'untrusted', changes }
  return { state: changes.length === 0 ? 'trusted' : 'changed', changes }
}

/** {@link assessWorkspace} for the parts of one skill; `directory` is its real path. */
export function assessSkill(
  accepted: Acceptance,
  directory: string,
  parts: readonly ActingPart[],
): WorkspaceAssessment {
  const owner = workspaceRelative(accepted.workspace, directory)
  return assessWorkspace({ ...accepted, parts: partsByOwner(accepted).get(owner) ?? [] }, parts)
}

/** A list of thousands of skills asks for each of them. */
const byOwner = new WeakMap<Acceptance, ReadonlyMap<string, readonly AcceptedPart[]>>()

function partsByOwner(accepted: Acceptance): ReadonlyMap<string, readonly AcceptedPart[]> {
  const known = byOwner.get(accepted)
  if (known !== undefined) return known
  const owners = new Map<string, AcceptedPart[]>()
  for (const part of accepted.parts) {
    const own = owners.get(part.owner)
    if (own === undefined) owners.set(part.owner, [part])
    else own.push(part)
  }
  byOwner.set(accepted, owners)
  return owners
}

function compareParts(
  accepted: readonly AcceptedPart[],
  current: readonly ActingPart[],
): PartChange[] {
  const before = new Map(accepted.map((part) => [keyOf(part), part]))
  const now = new Set(current.map(keyOf))
  const changes: PartChange[] = accepted
    .filter((part) => !now.has(keyOf(part)))
    .map((part) => ({ change: 'removed', part }))
  for (const part of current) {
    const old = before.get(keyOf(part))
    if (old === undefined) changes.push({ change: 'added', part })
    else if (!sameContent(old, part)) changes.push({ change: 'changed', part, accepted: old })
  }
  return changes.toSorted((a, b) => orderParts(a.part, b.part))
}

/** Total order of parts: owner, path, kind. */
export function orderParts(a: AcceptedPart, b: AcceptedPart): number {
  return compareText(a.owner, b.owner) || compareText(a.path, b.path) || compareText(a.kind, b.kind)
}

function sameContent(a: AcceptedPart, b: AcceptedPart): boolean {
  return a.digest === b.digest && a.digest !== unreadableDigest
}

function keyOf(part: AcceptedPart): string {
  return `${part.owner}\0${part.path}\0${part.kind}`
}
