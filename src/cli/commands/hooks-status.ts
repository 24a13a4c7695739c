import { exitCode, safeLine } from '../../base/index.ts'
import {
  bestRun,
  type HooksStatus,
  hooksStatus,
  type PlatformStatus,
  type Registered,
} from '../../hooks/index.ts'
import { findProgram } from '../../exec/find-program.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText(
      'after',
      '\nSays for each client whether the hook is there, whether it will run in this folder, and if not\nwhat to do. What a client trusts is read from its own files; nothing of it is written.\nEnds with 1 when an installed hook would not run as it should.\n\nExample:\n  $ skillrail hooks status\n',
    )
  },
  async run(context) {
    const { runtime, options, output } = context
    const status = await hooksStatus(runtime, {
      findProgram: (name) => findProgram(name, runtime),
    })
    if (options.json) output.json(status)
    else print(context, status)
    return isWell(status) ? exitCode.done : exitCode.badAnswer
  },
})

/** Whether every client that is here and has the hook will run it. */
function isWell({ launcher, probe, platforms }: HooksStatus): boolean {
  const places = platforms.flatMap(({ user, project }) => [user, project])
  if (places.some(({ state }) => state === 'broken' || state === 'outdated')) return false
  const isSkipped = (status: PlatformStatus): boolean =>
    status.program !== undefined && bestRun(status)?.answer === 'no'
  if (platforms.some(isSkipped)) return false
  const registered = places.some(({ state }) => state === 'installed')
  return !registered || (launcher.state === 'current' && probe?.ok === true)
}

function print({ output }: CommandContext, { launcher, probe, platforms }: HooksStatus): void {
  output.table(
    platforms.map((status) => [
      status.title,
      status.program === undefined ? 'not found' : 'found',
      `you: ${shortState(status.user)}`,
      `project: ${shortState(status.project)}`,
      answers[bestRun(status)?.answer ?? 'absent'],
    ]),
  )
  for (const { title, user, project, runs, remark } of platforms) {
    for (const place of [user, project]) {
      if ('reason' in place)
        output.line(`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`)
    }
    for (const scope of ['user', 'project'] as const) {
      const run = runs[scope]
      if (run === undefined || run.answer === 'yes') continue
      output.line(`${title} (${scopeNames[scope]}): ${safeLine(run.reason)}`)
      output.line(`  ${safeLine(run.step)}`)
    }
    if (remark !== undefined && user.state !== 'absent') output.line(`${title}: ${remark}`)
  }
  output.line()
  output.line(`launcher  ${launcher.state}  ${safeLine(launcher.path)}`)
  if (launcher.state === 'outdated')
    output.line('          skillrail hooks install brings it up to date.')
  if (probe !== undefined) {
    output.line(`one call  ${probe.durationMs} ms  ${safeLine(probe.problem ?? 'as it should be')}`)
  }
}

const scopeNames = { user: 'yours', project: 'the project’s' } as const

const answers = {
  absent: '',
  yes: 'runs here',
  'once-trusted': 'runs here once the folder is trusted',
  no: 'does not run here',
  unknown: 'may run here',
} as const

function shortState(place: Registered): string {
  if (place.state !== 'installed') return place.state
  return place.parts === 1 ? 'installed' : `installed in ${place.parts} parts`
}
