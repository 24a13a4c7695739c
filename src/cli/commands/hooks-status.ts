import { exitCode, safeLine } from '../../base/index.ts'
import { type HooksStatus, hooksStatus, type Registered } from '../../hooks/index.ts'
import { findProgram } from '../_find-program.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText(
      'after',
      '\nEnds with 1 when an installed hook would not run as it should.\n\nExample:\n  $ skillrail hooks status\n',
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

/** Whether every hook that is registered will run. */
function isWell({ launcher, probe, platforms }: HooksStatus): boolean {
  const places = platforms.flatMap(({ user, project }) => [user, project])
  if (places.some(({ state }) => state === 'broken' || state === 'outdated')) return false
  const registered = places.some(({ state }) => state === 'installed')
  return !registered || (launcher.state === 'current' && probe?.ok === true)
}

function print({ output }: CommandContext, { launcher, probe, platforms }: HooksStatus): void {
  output.table(
    platforms.map(({ title, program, user, project, trust }) => [
      title,
      program === undefined ? 'not found' : 'found',
      `you: ${shortState(user)}`,
      `project: ${shortState(project)}`,
      trust === undefined ? '' : `Codex says: ${trust}`,
    ]),
  )
  for (const { title, user, project, steps, remark } of platforms) {
    for (const place of [user, project]) {
      if ('reason' in place)
        output.line(`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`)
    }
    for (const step of steps) output.line(`${title}: ${step}`)
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

function shortState(place: Registered): string {
  if (place.state !== 'installed') return place.state
  return place.parts === 1 ? 'installed' : `installed in ${place.parts} parts`
}
