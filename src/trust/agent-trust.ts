import { dirname } from 'node:path'
import { realPathOf } from '../base/index.ts'
import { agentFileParts } from './_agent-files.ts'
import { allowingHint } from './_hints.ts'
import { workspaceRelative } from './_relative.ts'
import { assessWorkspace } from './assess.ts'
import { decideTrust } from './decide.ts'
import type { Acceptance, SkillScope, TrustPolicy, TrustVerdict } from './model.ts'

/** A file that defines a subagent. */
export interface AgentSubject {
  name: string
  scope: SkillScope
  /** Absolute. */
  path: string
}

/**
 * Whether a file that defines a subagent may be used, by the rules for skills: those of the user are
 * trusted, those of a project once it is, as long as nothing that acts in them has changed. Reads
 * the file again for a project that was accepted.
 */
export function agentTrust(
  agent: AgentSubject,
  policy: TrustPolicy,
): TrustVerdict & { hint: string } {
  const { scope, path } = agent
  const file = realPathOf(path)
  const directory = file === undefined ? undefined : dirname(file)
  const verdict = decideTrust({ scope, directory, policy, changed: false })
  const { acceptance } = policy
  const changed =
    verdict.code === 'workspace-accepted' && acceptance !== undefined
      ? isChanged(path, acceptance)
      : false
  const final = changed ? decideTrust({ scope, directory, policy, changed }) : verdict
  const subject = { ...agent, directory: dirname(path), realDirectory: directory }
  return { ...final, hint: allowingHint(final.code, subject, policy) }
}

function isChanged(path: string, acceptance: Acceptance): boolean {
  const { workspace, pinned } = acceptance
  const parts = agentFileParts(workspace, path, { text: pinned })
  // By its own path: a file that lost its frontmatter has no parts left, and has changed.
  const file = workspaceRelative(workspace, path)
  const accepted = acceptance.parts.filter((part) => part.owner === '' && part.path === file)
  return assessWorkspace({ ...acceptance, parts: accepted }, parts).state !== 'trusted'
}
