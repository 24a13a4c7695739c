import { defineCommand } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { linesText, safeLine } from '../../core/text.ts'
import type { Platform } from '../adapters.ts'
import { type HooksStatus, hooksStatus, type PlatformStatus, type Registered } from '../status.ts'
import { clientNamed } from './clients.ts'

export const command = defineCommand<HooksStatus>()({
  arguments: { '[client...]': 'clients to show; default: all' },
  options: {},
  details:
    'Says for each client whether the hook is there, whether it runs in this folder, and what the client does\nnot report. Ends with 1 when an installed hook is broken or outdated, or does not run.',
  examples: ['hooks status'],
  async run({ runtime }, { arguments: names }) {
    const wanted = names.map(clientNamed)
    const status = await hooksStatus(runtime)
    const isWanted = (platform: Platform) => wanted.length === 0 || wanted.includes(platform)
    return { ...status, platforms: status.platforms.filter((one) => isWanted(one.platform)) }
  },
  exitCode: (status) => (isWell(status) ? exitCode.done : exitCode.badAnswer),
  render({ launcher, probe, platforms }, screen) {
    const rows = platforms.map((status) => {
      const missing = status.missing.map((event) => eventNames[event]).join(', ')
      return [
        status.title,
        status.program === undefined ? 'not found' : 'found',
        `you: ${shortState(status.user)}`,
        `project: ${shortState(status.project)}`,
        isThere(status) && missing !== '' ? `without: ${missing}` : '',
      ]
    })
    const lines = [
      ...platforms.flatMap(platformLines),
      '',
      `launcher  ${launcher.state}  ${safeLine(launcher.path)}`,
    ]
    if (launcher.state === 'outdated')
      lines.push('          skillrail hooks install brings it up to date.')
    if (probe !== undefined)
      lines.push(
        `one call  ${probe.durationMs} ms  ${safeLine(probe.problem ?? 'as it should be')}`,
      )
    return screen.table(rows) + linesText(lines)
  },
})

function isWell({ launcher, probe, platforms }: HooksStatus): boolean {
  const states = platforms.flatMap(({ user, project }) => [user.state, project.state])
  if (states.includes('broken') || states.includes('outdated')) return false
  const stuck = platforms.filter(({ program, runs }) => {
    const answers = Object.values(runs).flatMap((run) => run?.answer ?? [])
    return program !== undefined && answers.length > 0 && answers.every((one) => one === 'no')
  })
  if (stuck.length > 0) return false
  return !states.includes('installed') || (launcher.state === 'current' && probe?.ok === true)
}

const eventNames = {
  before: 'denying tools',
  after: 'references with results',
  compact: 'compaction',
  subagent: 'subagents',
} as const

function isThere({ user, project }: PlatformStatus): boolean {
  return user.state !== 'absent' || project.state !== 'absent'
}

function shortState(place: Registered): string {
  if (place.state !== 'installed') return place.state
  return place.parts === 1 ? 'installed' : `installed in ${place.parts} parts`
}

function platformLines(status: PlatformStatus): string[] {
  const { title, user, project, steps, remark } = status
  const problems = [user, project].flatMap((place) =>
    'reason' in place ? [`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`] : [],
  )
  const notes = isThere(status) && remark !== undefined ? [...steps, remark] : steps
  return [...problems, ...notes.map((note) => `${title}: ${note}`)]
}
