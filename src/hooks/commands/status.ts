import { defineCommand } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { linesText, safeLine } from '../../core/text.ts'
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
  run: async ({ runtime }) => await hooksStatus(runtime),
  exitCode: (status) => (isWell(status) ? exitCode.done : exitCode.badAnswer),
  render({ launcher, probe, platforms }, screen) {
    const rows = platforms.map((status) => [
      status.title,
      status.program === undefined ? 'not found' : 'found',
      `you: ${shortState(status.user)}`,
      `project: ${shortState(status.project)}`,
      answers[bestRun(status)?.answer ?? 'absent'],
    ])
    const lines = [
      ...platforms.flatMap(platformLines),
      '',
      `launcher  ${launcher.state}  ${safeLine(launcher.path)}`,
    ]
    if (launcher.state === 'outdated') {
      lines.push('          skillrail hooks install brings it up to date.')
    }
    if (probe !== undefined) {
      const problem = safeLine(probe.problem ?? 'as it should be')
      lines.push(`one call  ${probe.durationMs} ms  ${problem}`)
    }
    return screen.table(rows) + linesText(lines)
  },
})

function isWell({ launcher, probe, platforms }: HooksStatus): boolean {
  const states = platforms.flatMap(({ user, project }) => [user.state, project.state])
  if (states.includes('broken') || states.includes('outdated')) return false
  const isSkipped = platforms.some(
    (status) => status.program !== undefined && bestRun(status)?.answer === 'no',
  )
  if (isSkipped) return false
  return !states.includes('installed') || (launcher.state === 'current' && probe?.ok === true)
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

function platformLines({ title, user, project, runs, remark }: PlatformStatus): string[] {
  const problems = [user, project].flatMap((place) =>
    'reason' in place ? [`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`] : [],
  )
  const judged = [
    { name: 'yours', run: runs.user },
    { name: 'the project’s', run: runs.project },
  ].flatMap(({ name, run }) =>
    run === undefined || run.answer === 'yes'
      ? []
      : [`${title} (${name}): ${safeLine(run.reason)}`, `  ${safeLine(run.step)}`],
  )
  const isShown = remark !== undefined && user.state !== 'absent'
  return [...problems, ...judged, ...(isShown ? [`${title}: ${remark}`] : [])]
}
