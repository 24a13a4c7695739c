import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  type InstalledReading,
  type InstalledState,
  installedStates,
  openLockStore,
  readInstalledLock,
  readUserInstalledLock,
  type TrustStore,
  userSkillDirectory,
} from '../trust/index.ts'
import { amount } from '../base/text.ts'
import { keptTexts } from './_text-change.ts'
import { compareWithLock, lockReportLines } from './_trust-lock-report.ts'
import { type Standing, standingOf } from './_trust-standing.ts'
import type { CommandContext } from './command.ts'

/**
 * Compares the skills of a project with its lock, and with what the `skills` command recorded when it
 * installed them. Trusts nothing and writes nothing.
 */
export function checkLock(
  context: CommandContext,
  store: TrustStore,
  path: string | undefined,
): ExitCode {
  const { runtime, output, options: globals } = context
  const standing = standingOf(context, store, path, {})
  const lockStore = openLockStore(runtime, standing.workspace)
  const lock = compareWithLock(standing, keptTexts(store, lockStore)).report
  const reading = readInstalledLock(installedPlace(standing))
  const installed = installedStates(reading.skills, skillDirectories(standing))
  const ofUser = installedForUser(context)
  const hasNone = lock.state === 'none' && reading.state === 'none'
  const missing = hasNone && lock.diagnostics.length === 0 ? [missingLock(lock.path)] : []
  const diagnostics = [...missing, ...lock.diagnostics, ...reading.diagnostics]
  const differing = installed.filter(({ state }) => state !== 'same')
  const ok = diagnostics.length === 0 && lock.state !== 'drifted' && differing.length === 0
  if (globals.json) {
    const { workspace } = standing
    const found = { path: reading.path, state: reading.state, skills: installed }
    const installedForUser = ofUser
    output.json({ workspace, ok, lock, installed: found, installedForUser, diagnostics })
  } else {
    for (const line of [
      ...lockReportLines(lock),
      ...installedLines(reading, installed),
      ...installedLines(ofUser, ofUser.skills),
    ]) {
      output.line(line)
    }
    output.diagnostics([...diagnostics, ...ofUser.diagnostics])
    if (lock.state === 'none' && diagnostics.length === 0) {
      output.note('The project has no lock of its own: skillrail trust --lock writes one.')
    }
  }
  return ok ? exitCode.done : exitCode.badAnswer
}

/** The `skills` command writes its file where it was started: a folder of the workspace, or its top. */
function installedPlace({ workspace, place }: Standing): string {
  return existsSync(join(place, 'skills-lock.json')) ? place : workspace
}

interface UserInstalled extends Omit<InstalledReading, 'skills'> {
  skills: readonly InstalledState[]
}

/** They belong to no project: what is said of them decides nothing about this one. */
function installedForUser({ runtime }: CommandContext): UserInstalled {
  const reading = readUserInstalledLock(runtime)
  const directories = reading.skills
    .map(({ name }) => userSkillDirectory(name, runtime))
    .filter((directory) => existsSync(directory))
  return { ...reading, skills: installedStates(reading.skills, [...new Set(directories)]) }
}

function skillDirectories({ skills }: Standing): string[] {
  const byReal = new Map(skills.map((skill) => [skill.realDirectory, skill.directory]))
  return [...byReal.values()]
}

function missingLock(path: string): Diagnostic {
  return {
    code: 'lock-file-missing',
    severity: 'error',
    message: 'the project has no lock file',
    path,
    hint: 'To write one: skillrail trust --lock',
  }
}

function installedLines(
  { path, state }: Pick<InstalledReading, 'path' | 'state'>,
  installed: readonly InstalledState[],
): string[] {
  if (state !== 'read') return []
  const recorded = installed.filter((skill) => skill.state !== 'unrecorded')
  const differing = recorded.filter((skill) => skill.state !== 'same')
  const all = amount(recorded.length, 'skill')
  const other = installed.length - recorded.length
  const more = other === 0 ? '' : `, and ${amount(other, 'skill')} with no hash to compare`
  if (differing.length === 0) return [`Installed, by ${safeLine(path)}: ${all} as installed${more}`]
  return [
    `Installed, by ${safeLine(path)}: ${differing.length} of ${all} not as installed${more}`,
    ...differing.map((skill) => `  ${skill.state}: ${safeLine(installedWords(skill))}`),
  ]
}

function installedWords({ name, source, state, directories, problem }: InstalledState): string {
  const from = source === '' ? '' : ` from ${source}`
  if (state === 'missing') return `${name}${from} (no skill lies in its directory)`
  const why =
    problem ??
    'or its source has metadata.json, links or caches, which are hashed but not installed'
  return `${name}${from}  ${directories.join(', ')} (${why})`
}
