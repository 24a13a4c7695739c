import { shellWord } from '../base/index.ts'
import { workspaceRelative } from './_relative.ts'
import type { TrustPolicy, TrustReason, TrustSubject } from './model.ts'

/** The command or the setting that would allow what was refused. */
export function allowingHint(
  reason: TrustReason,
  skill: TrustSubject,
  policy: TrustPolicy,
): string {
  const place = shellWord(placeOf(skill, policy))
  const command = `skillrail trust ${place}`
  if (reason === 'workspace-not-accepted') {
    return `To see what it may do and allow it: ${command} (in CI: --trust-workspace).`
  }
  if (reason === 'workspace-changed') return `To see what changed and accept it: ${command}`
  if (reason === 'lock-drift') {
    return `To see what differs: ${command} --lock --check; to lock it as it is now: ${command} --lock`
  }
  if (reason === 'lock-unreadable') {
    return `To see what is wrong with it: ${command} --lock --check; to do without it: ${command} --unlock`
  }
  const directory = shellWord(skill.realDirectory ?? skill.directory)
  return `To allow it, add ${directory} to skills.trustedPaths in your own configuration file.`
}

/** Skills of a nested folder are seen from that folder, so the command must start there. */
function placeOf(skill: TrustSubject, policy: TrustPolicy): string {
  const directory = skill.realDirectory ?? skill.directory
  return workspaceRelative(policy.workspace, directory).startsWith('.')
    ? policy.workspace
    : directory
}
