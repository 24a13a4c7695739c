import { dirname, join, resolve } from 'node:path'
import { option, type OptionSpecs } from '../../core/command.ts'
import { contradiction, UsageError } from '../../core/errors.ts'
import { isInside } from '../../core/read-files.ts'
import { safeLine } from '../../core/text.ts'
import { userDirectories } from '../../core/runtime.ts'
import { type Grants, parseGrants, SandboxMissingError } from '../../exec/sandbox/grants.ts'
import { openSandbox } from '../../exec/sandbox/open-sandbox.ts'
import { confinedSteps, type Plan } from '../plan-model.ts'
import type { RunConfinement } from '../script-executor.ts'
import type { ChainProject, GrantOptions } from './project.ts'

/** What a user allows the scripts of a run that are not trusted. Never read from a file. */
export const confinementOptions = {
  grant: option.list(
    '--grant <what>',
    'give the sandbox read:PATH, write:PATH, net:* or env:NAME (repeatable)',
  ),
  unsafeNoSandbox: option.flag(
    '--unsafe-no-sandbox',
    'run untrusted scripts with all your rights; the journal records it',
  ),
} as const satisfies OptionSpecs

export interface ConfinementChoice extends GrantOptions {
  /** `restate`: workers execute the run. */
  engine?: string | undefined
}

/**
 * Where the scripts of a plan run that need a sandbox; undefined where it has none. Throws {@link
 * SandboxMissingError} when no sandbox works here, {@link UsageError} for an invalid grant.
 */
export async function confinementFor(
  project: ChainProject,
  plan: Plan,
  { grant = [], unsafeNoSandbox = false, engine }: ConfinementChoice,
): Promise<RunConfinement | undefined> {
  const { context } = project
  if (grant.length > 0 && unsafeNoSandbox) {
    const hint = 'A grant opens the sandbox in one place; without a sandbox there is none to open.'
    throw contradiction('--grant', '--unsafe-no-sandbox', hint)
  }
  const grants = grantsOf(project, grant)
  const confined = confinedSteps(plan)
  const [first] = confined
  if (first === undefined) {
    if (grant.length > 0 || unsafeNoSandbox) {
      const idle = unsafeNoSandbox ? '--unsafe-no-sandbox' : '--grant'
      context.note(`${idle} changes nothing: no script of this plan runs in a sandbox`)
    }
    return undefined
  }
  if (engine === 'restate') {
    throw new SandboxMissingError({
      code: 'sandbox-missing',
      message: `the scripts of the skill ${first.skill} run only in a sandbox, which workers do not have`,
      hint: 'Run it on this machine: leave out --engine restate.',
    })
  }
  if (unsafeNoSandbox) {
    const names = [...new Set(confined.map(({ skill }) => safeLine(skill)))].join(', ')
    context.note(
      `--unsafe-no-sandbox: these scripts run with all your rights, and this run's journal says so: ${names}`,
    )
    return 'off'
  }
  for (const { path } of confined) {
    refuseOwnSkill(dirname(resolve(project.workspace, path)), grants)
  }
  const probe = await openSandbox()
  if (probe.ok) return { sandbox: probe.sandbox, grants }
  const trust = first.trust === 'untrusted' ? ' Or trust the skill: skillrail trust.' : ''
  throw new SandboxMissingError({
    code: 'sandbox-missing',
    message: `the scripts of the skill ${first.skill} run only in a sandbox, and ${probe.reason}`,
    hint: `${probe.hint}${trust}`,
  })
}

/** A skill that can write into its own directory could be another one at the next run. */
function refuseOwnSkill(directory: string, { write }: Grants): void {
  const grant = write.find((path) => isInside(path, directory) || isInside(directory, path))
  if (grant === undefined) return
  throw new UsageError({
    code: 'wrong-use',
    message: `--grant write:${grant} would let the skill in ${directory} change itself`,
    hint: 'Name a directory beside it.',
  })
}

function grantsOf(project: ChainProject, texts: readonly string[]): Grants {
  const { runtime } = project.context
  const { cwd, home, env } = runtime
  const guarded = [
    ...Object.values(userDirectories(runtime)),
    join(project.workspace, '.skillrail'),
  ]
  const { grants, problems } = parseGrants(texts, { cwd, home, env, guarded })
  const [first] = problems
  if (first === undefined) return grants
  const { grant, message, hint } = first
  throw new UsageError({ code: 'wrong-use', message: `--grant ${grant}: ${message}`, hint })
}
