import { defineCommand, type Screen } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import { findProgram } from '../../exec/find-program.ts'
import {
  bestRun,
  type HooksStatus,
  hooksStatus,
  type PlatformStatus,
  type Registered,
} from '../status.ts'

export const command = defineCommand<HooksStatus>()({
  options: {},
  details:
    'Says for each client whether the hook is there, whether it will run in this folder, and if not\nwhat to do. What a client trusts is read from its own files; nothing of it is written.\nEnds with 1 when an installed hook would not run as it should.',
  examples: ['hooks status'],
  run: async ({ runtime }) =>
    await hooksStatus(runtime, { findProgram: (name) => findProgram(name, runtime) }),
  exitCode: (status) => (isWell(status) ? exitCode.done : exitCode.badAnswer),
  render(status, screen) {
    const { launcher, probe, platforms } = status
    const lines = [
      '',
      `launcher  ${launcher.state}  ${safeLine(launcher.path)}`,
      ...(launcher.state === 'outdated'
        ? ['          skillrail hooks install brings it up to date.']
        : []),
      ...(probe === undefined
        ? []
        : [`one call  ${probe.durationMs} ms  ${safeLine(probe.problem ?? 'as it should be')}`]),
    ]
    const all = [...platforms.flatMap(platformLines), ...lines]
    return tableText(platforms, screen) + all.map((line) => `${line}\n`).join('')
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

function tableText(platforms: readonly PlatformStatus[], screen: Screen): string {
  return screen.table(
    platforms.map((status) => [
      status.title,
      status.program === undefined ? 'not found' : 'found',
      `you: ${shortState(status.user)}`,
      `project: ${shortState(status.project)}`,
      answers[bestRun(status)?.answer ?? 'absent'],
    ]),
  )
}

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

const scopeNames = { user: 'yours', project: 'the project’s' } as const

function platformLines({ title, user, project, runs, remark }: PlatformStatus): string[] {
  const lines: string[] = []
  for (const place of [user, project]) {
    if ('reason' in place)
      lines.push(`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`)
  }
  for (const scope of ['user', 'project'] as const) {
    const run = runs[scope]
    if (run === undefined || run.answer === 'yes') continue
    lines.push(
      `${title} (${scopeNames[scope]}): ${safeLine(run.reason)}`,
      `  ${safeLine(run.step)}`,
    )
  }
  if (remark !== undefined && user.state !== 'absent') lines.push(`${title}: ${remark}`)
  return lines
}
