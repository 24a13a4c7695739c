import { relative, sep } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { Acceptance, AcceptedPart, ActingPart } from '../../trust/model.ts'
import { assessWorkspace } from '../../trust/skill-trust.ts'
import { collectActingParts } from '../../trust/acting-parts.ts'
import { readTrustPolicy } from '../../trust/decide.ts'
import type { ServerBlock } from './model.ts'

/** Says of a file in the workspace whether its servers may start; undefined: they may. */
export interface FileTrust {
  blockOf(path: string): ServerBlock | undefined
  /**
   * What was accepted of the workspace itself, not of its skills: those are compared when they act.
   * Nothing where the caller vouches for it.
   */
  accepted: readonly AcceptedPart[]
  /** The same as it is now; read when somebody asks, and once. */
  now(): readonly ActingPart[]
  diagnostics: readonly Diagnostic[]
}

/**
 * Trust of the configuration files of a project: the workspace was accepted and the file is there and
 * what it was then, or the caller vouches for it. Files are compared only when somebody asks.
 */
export function fileTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
): FileTrust {
  const { policy, diagnostics } = readTrustPolicy(runtime, { workspace: project, workspaceTrust })
  const { acceptance } = policy
  const vouched = workspaceTrust === 'trusted'
  const accepted = vouched ? [] : (acceptance?.parts ?? []).filter(({ owner }) => owner === '')
  let parts: readonly ActingPart[] | undefined
  let asAccepted: ReadonlySet<string> | undefined
  const now = (): readonly ActingPart[] => (parts ??= collectActingParts(policy.workspace, []))
  return {
    diagnostics,
    accepted,
    now,
    blockOf(path) {
      if (vouched) return undefined
      if (acceptance === undefined) return untrusted(path)
      asAccepted ??= acceptedFiles(acceptance)
      const name = relative(policy.workspace, path).split(sep).join('/')
      return asAccepted.has(name) ? undefined : changedSince(path)
    },
  }

  /** A file that was read and is gone by now is none of them, whether it was accepted or not. */
  function acceptedFiles(whole: Acceptance): ReadonlySet<string> {
    const { changes } = assessWorkspace({ ...whole, parts: accepted }, now())
    const changed = new Set(changes.map(({ part }) => part.path))
    return new Set(
      now()
        .map(({ path }) => path)
        .filter((path) => !changed.has(path)),
    )
  }
}

/** What to do where a file is not what was accepted. */
export const acceptingHint = 'To see what changed and accept it: skillrail trust'

function untrusted(path: string): ServerBlock {
  return {
    reason: 'untrusted',
    message: `it is configured by the project in ${path}, and the workspace was never trusted`,
    hint: 'Review and trust the project with: skillrail trust (in CI: --trust-workspace)',
  }
}

function changedSince(path: string): ServerBlock {
  return {
    reason: 'changed',
    message: `${path} has changed since the workspace was trusted`,
    hint: acceptingHint,
  }
}
