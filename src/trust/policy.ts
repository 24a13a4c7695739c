import { isAbsolute, join } from 'node:path'
import { type Diagnostic, type Runtime, realPathOf } from '../base/index.ts'
import type { TrustPolicy } from './model.ts'
import { openTrustStore } from './store.ts'

export interface TrustPolicyOptions {
  /** Any spelling of the workspace; see `findWorkspace`. */
  workspace: string
  /** Default `ask`. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /**
   * Absolute paths, or ones that begin with `~/`, from the user's settings or the calling program.
   * A relative one is reported and ignored: it would mean another directory in every project.
   */
  trustedPaths?: readonly string[] | undefined
}

export interface TrustPolicyReading {
  policy: TrustPolicy
  /** A broken record is an error here, and the policy then trusts no workspace. */
  diagnostics: readonly Diagnostic[]
}

/**
 * Takes the user's record and the caller's wishes once, for any number of decisions.
 *
 * @example
 * const workspace = findWorkspace(runtime.cwd, runtime)
 * const { policy, diagnostics } = readTrustPolicy(runtime, { workspace })
 */
export function readTrustPolicy(runtime: Runtime, options: TrustPolicyOptions): TrustPolicyReading {
  const store = openTrustStore(runtime)
  const reading = store.read()
  const workspace = realPathOf(options.workspace) ?? options.workspace
  const named = (options.trustedPaths ?? []).map((path) => expandHome(path, runtime.home))
  const policy: TrustPolicy = {
    workspace,
    workspaceTrust: options.workspaceTrust ?? 'ask',
    trustedPaths: named.filter(isAbsolute).flatMap((path) => realPathOf(path) ?? []),
    acceptance: reading.acceptances.find((item) => item.workspace === workspace),
  }
  const relative = named.filter((path) => !isAbsolute(path)).map(relativePath)
  return { policy, diagnostics: [...reading.diagnostics, ...relative] }
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path
}

function relativePath(path: string): Diagnostic {
  return {
    code: 'trusted-path-relative',
    severity: 'warning',
    message: `the trusted path "${path}" is relative and was ignored`,
    path: 'skills.trustedPaths',
    hint: 'Give an absolute path or one that begins with ~/.',
  }
}
