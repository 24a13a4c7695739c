import { realpathSync } from 'node:fs'
import { messageOf } from '../../base/index.ts'
import type { Script } from '../find-script.ts'
import type { ProcessEnd, ProcessResult } from '../process.ts'
import { whatIsMissing } from '../what-is-missing.ts'
import type { Grants } from './grants.ts'
import { defaultLimits, type SandboxLimits } from './limits.ts'
import { notStarted } from './_not-started.ts'
import type { Places, Sandbox, SandboxRequest } from './model.ts'

/** Where a script that is not trusted runs, and what it was given there. */
export interface Confinement {
  sandbox: Sandbox
  grants: Grants
  /** Default: {@link defaultLimits}. */
  limits?: SandboxLimits | undefined
}

export interface ConfinedScript extends Pick<
  SandboxRequest,
  'stdin' | 'timeoutMs' | 'outputLimit' | 'signal' | 'onOutput' | 'state' | 'output'
> {
  script: Script
  skillDirectory: string
  arguments: readonly string[]
  /** What a script outside would get; only the locale and the time zone of it go in. */
  ambient: Readonly<Record<string, string>>
  /** What the script is told, by the paths that hold inside. */
  own(places: Places): Readonly<Record<string, string>>
}

/** Runs a script of a skill in a sandbox; like `runProcess` it never rejects. */
export async function runConfined(
  { sandbox, grants, limits = defaultLimits }: Confinement,
  request: ConfinedScript,
): Promise<ProcessResult> {
  const { script, skillDirectory, arguments: given, ambient, own, ...rest } = request
  try {
    const result = await sandbox.run({
      ...rest,
      skillDirectory: realpathSync.native(skillDirectory),
      grants,
      limits,
      command: (places) => [...commandInside(script, places), ...given],
      environment: (places) => ({
        ...localeOf(ambient),
        PYTHONDONTWRITEBYTECODE: '1',
        ...own(places),
      }),
    })
    return { ...result, end: explained(script, result.end) }
  } catch (error) {
    return notStarted(messageOf(error))
  }
}

/** What starts it inside says of anything that is missing 127, and that the script is. */
function explained(script: Script, end: ProcessEnd): ProcessEnd {
  const isMissing = end.kind === 'exit' && end.code === 127
  const message = isMissing ? whatIsMissing({ file: script.file, cwd: '/' }) : undefined
  return message === undefined ? end : { kind: 'not-started', message }
}

function commandInside(script: Script, places: Places): string[] {
  const path = `${places.skill}/${script.relative}`
  return [script.file, ...script.args].map((word) => {
    if (word === script.path) return path
    return word === process.execPath ? places.node : word
  })
}

function localeOf(ambient: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ambient).filter(([name]) => /^(?:LANG|LANGUAGE|TZ|LC_[A-Z]+)$/.test(name)),
  )
}
