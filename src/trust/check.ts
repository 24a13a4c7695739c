import type { Check, CheckContext } from '#core/command'
import type { Diagnostic } from '#core/errors'
import { amount } from '#core/text'
import { findWorkspace } from '#core/read-files'
import { TrustStore } from './store.ts'
import { readLock } from './lock-file.ts'

/** Reports whether the workspace is trusted, for `doctor`. */
export function checkTrust({ runtime, settings }: CheckContext): Check[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  if (settings.workspaceTrust === 'trusted') {
    return [{ name: 'workspace', status: 'ok', found: `${workspace} is trusted for this command` }]
  }
  const { acceptances, diagnostics } = new TrustStore(runtime).read()
  const acceptance = acceptances.find((acceptance) => acceptance.workspace === workspace)
  const problems = diagnostics.map((diagnostic) => problem('trust record', diagnostic))
  if (!acceptance || acceptance.skills?.length === 0) {
    const text = `${workspace} is not trusted: its skills cannot execute`
    const advice = 'Review and trust them with: skillrail trust'
    return [...problems, { name: 'workspace', status: 'information', found: text, advice }]
  }
  const since = `trusted since ${acceptance.acceptedAt.slice(0, 10)}`
  const { skills } = acceptance
  const text = !skills
    ? `${workspace} has been ${since}`
    : `${amount(skills.length, 'skill')} of ${workspace}, ${since}: ${skills.join(', ')}`
  return [...problems, { name: 'workspace', status: 'ok', found: text }]
}

/** Reports whether the lock can be read; nothing without a lock. Does not compare, which would hash every skill. */
export function checkSkillLock({ runtime }: CheckContext): Check[] {
  const lock = readLock(findWorkspace(runtime.cwd, runtime))
  if (lock.state === 'none') return []
  const advice = 'skillrail trust --lock --check compares the skills with it.'
  if (lock.state === 'read') {
    const text = `${lock.path} contains ${amount(lock.skills.size, 'skill')}`
    return [{ name: 'skill lock', status: 'ok', found: text, advice }]
  }
  return lock.diagnostics.map((diagnostic) => problem('skill lock', diagnostic))
}

function problem(name: string, { path, line, message, hint }: Diagnostic): Check {
  const place = line === undefined ? path : `${path}:${line}`
  return { name, status: 'problem', found: `${place}: ${message}`, advice: hint }
}
