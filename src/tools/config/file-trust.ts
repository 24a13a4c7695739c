import { relative, sep } from 'node:path'
import type { Diagnostic, Runtime, Settings } from '../../base/index.ts'
import { assessWorkspace, collectActingParts, readTrustPolicy } from '../../trust/index.ts'
import type { ServerBlock } from './model.ts'

/** Says of a file in the workspace whether its servers may start; undefined: they may. */
export interface FileTrust {
  blockOf(path: string): ServerBlock | undefined
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
  let asAccepted: ReadonlySet<string> | undefined
  return {
    diagnostics,
    blockOf(path) {
      if (workspaceTrust === 'trusted') return undefined
      if (acceptance === undefined) return untrusted(path)
      asAccepted ??= acceptedFiles()
      const name = relative(policy.workspace, path).split(sep).join('/')
      return asAccepted.has(name) ? undefined : changedSince(path)
    },
  }

  /**
   * Of the workspace itself, not of its skills: those are compared when they act. A file that was
   * read and is gone by now is none of them, whether it was accepted or not.
   */
  function acceptedFiles(): ReadonlySet<string> {
    if (acceptance === undefined) return new Set()
    const own = acceptance.parts.filter((part) => part.owner === '')
    const parts = collectActingParts(policy.workspace, [])
    const { changes } = assessWorkspace({ ...acceptance, parts: own }, parts)
    const changed = new Set(changes.map(({ part }) => part.path))
    return new Set(parts.map(({ path }) => path).filter((path) => !changed.has(path)))
  }
}

/** What to do where a file is not what was accepted. */
export const acceptingHint = 'To see what changed and accept it: skillrail trust'

function untrusted(path: string): ServerBlock {
  return {
    reason: 'untrusted',
    message: `it is configured by the project in ${path}, and the workspace was never trusted`,
    hint: 'To see what the project may do and allow it: skillrail trust (in CI: --trust-workspace).',
  }
}

function changedSince(path: string): ServerBlock {
  return {
    reason: 'changed',
    message: `${path} has changed since the workspace was trusted`,
    hint: acceptingHint,
  }
}
