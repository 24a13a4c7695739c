import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandsIn } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'
import { until, withinLimit } from '../patience.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)

const lineOf = (lines: readonly string[], mark: string, name: string): string | undefined =>
  lines.find((line) => line.trimStart().startsWith(`${mark} `) && line.includes(` ${name} `))

const anyTime = /\d (?:ms|s) /
const zero = / 0 ms/

describe('a nested chain that waits at a gate', () => {
  it('names the step whose approval it waits for, and how long it has run', async () => {
    skills({
      main: { metadata: ['chain: [gated]'] },
      gated: { metadata: ['chain: [build, deploy]', 'gates: deploy'] },
      build: { run: 'sleep 0.2' },
      deploy: { run: 'true' },
    })
    const { lines } = await command('run main')
    const shown = await command(`runs show ${await runIdOf()}`)
    for (const text of [lines, shown.lines]) {
      const line = lineOf(text, '…', 'gated')
      expect(line).toContain('waits for approval of gated/deploy')
      expect(line).toMatch(anyTime)
      expect(line).not.toMatch(zero)
    }
  })
})

describe('the time of a step that was cut off', () => {
  it('is the same in the progress and in the table of a race', async () => {
    skills({
      main: { metadata: ['chain: [slow, fast]', 'async: true', 'race_mode: true'] },
      slow: { run: 'sleep 30' },
      fast: { run: 'sleep 0.3' },
    })
    const { lines, notes } = await command('run main')
    const time = (line: string | undefined): string | undefined =>
      /\d[\d.]* m?s/.exec(line ?? '')?.[0]
    expect(time(lineOf(notes, '⊘', 'slow'))).toMatch(/^[1-9]/)
    expect(time(lineOf(notes, '⊘', 'slow'))).toBe(time(lineOf(lines, '⊘', 'slow')))
  })

  it('is kept when the run is interrupted, below a nested chain too', async () => {
    skills({
      main: { metadata: ['chain: [nested]'] },
      nested: { metadata: ['chain: [slow]'] },
      slow: { run: 'echo slow >> log; sleep 600' },
    })
    const { lines, notes } = await withinLimit(
      500,
      (limit) => command(`run main --max-time ${limit / 1000}`),
      () => project.log().includes('slow'),
    )
    const shown = await command(`runs show ${await runIdOf()}`)
    for (const text of [lines, shown.lines, notes]) {
      expect(lineOf(text, '⊘', 'slow')).toMatch(/ [1-9][\d.]* m?s/)
    }
    expect(lineOf(lines, '⊘', 'nested')).toMatch(/ [1-9][\d.]* m?s/)
  })

  it('is not shown after a crash, also when the run is cancelled later', async () => {
    skills({ main: { metadata: ['chain: [slow]'] }, slow: { run: 'echo slow >> log; sleep 30' } })
    const child = project.start(['run', 'main'])
    await until(() => project.log().length > 0)
    child.kill('SIGKILL')
    await child.ended
    const runId = await runIdOf()
    const killed = await command(`runs show ${runId}`)
    await command(`runs cancel ${runId}`)
    const cancelled = await command(`runs show ${runId}`)
    for (const { lines } of [killed, cancelled]) {
      expect(lineOf(lines, '⊘', 'slow')).toContain('█')
      expect(lineOf(lines, '⊘', 'slow')).not.toMatch(/\d m?s /)
    }
  })
})

describe('the line of a failed step', () => {
  it('names its first error if its result does not', async () => {
    skills({
      main: { metadata: ['chain: [lie, ver]', 'stop_on_failure: false'] },
      lie: { run: `echo '{"status":"success"}'; exit 2` },
      ver: { run: 'echo done', verify: 'exit 1' },
    })
    const { lines, notes } = await command('run main --json')
    expect(lines).toEqual([])
    expect(lineOf(notes, '✗', 'lie')).toContain('exit code 2')
    expect(lineOf(notes, '✗', 'ver')).toContain('verify ended with exit code 1')
    const shown = await command(`runs show ${await runIdOf()}`)
    expect(lineOf(shown.lines, '✗', 'lie')).toContain('exit code 2')
    expect(lineOf(shown.lines, '✗', 'ver')).toContain('verify ended with exit code 1')
  })

  it('names the error that an agent reported', async () => {
    skills({ main: { metadata: ['chain: [write]'] }, write: {} })
    await command('chain start main')
    const report = `chain report ${await runIdOf()} --step write --status failure --error e1`
    const { lines, notes } = await command(report)
    expect(lineOf(lines, '✗', 'write')).toMatch(/e1$/)
    expect(lineOf(notes, '✗', 'write')).toMatch(/e1$/)
  })
})

describe('a file for a report or for events', () => {
  beforeEach(() => {
    skills({ main: { metadata: ['chain: [a]'] }, a: { run: 'echo a >> log' } })
    writeFileSync(join(project.directory, 'file'), '')
    mkdirSync(join(project.directory, 'folder'))
  })

  it.each([
    '--report html=file/report.html',
    '--report html=folder',
    '--events=file/events',
    '--events=folder',
  ])('is refused before anything runs if it cannot be written: %s', async (option) => {
    const { code, error } = await command(`run main ${option}`)
    expect([code, error?.code]).toEqual([2, 'file-not-writable'])
    expect(project.log()).toEqual([])
  })

  it.runIf(existsSync('/dev/full'))(
    'changes no result on a full disk, and is reported',
    async () => {
      const { code, stderr } = await project.run(['run', 'main', '--report', 'json=/dev/full'])
      expect(code).toBe(0)
      expect(stderr).toContain('the json report was not written: the disk is full')
      const events = await project.run(['run', 'main', '--events=/dev/full'])
      expect([events.code, events.stderr]).toEqual([
        0,
        expect.stringContaining('events were not written: the disk is full'),
      ])
    },
  )

  it('gets each event in the order of its time, with the documented fields', async () => {
    skills({ main: { metadata: ['chain: [a, b]'] }, b: { run: 'echo hello; exit 3' } })
    await command('run main --events=e')
    const lines = readFileSync(join(project.directory, 'e'), 'utf8').trim().split('\n')
    const events = lines.map((line): Record<string, unknown> => JSON.parse(line))
    expect(events.map((event) => [event['type'], event['key']])).toEqual([
      ['run-started', undefined],
      ['step-started', '1:a'],
      ['step-finished', '1:a'],
      ['step-started', '1:b'],
      ['step-output', '1:b'],
      ['step-finished', '1:b'],
      ['run-finished', undefined],
    ])
    const times = events.flatMap(({ at }) => (typeof at === 'string' ? [at] : []))
    expect(times).toEqual(times.toSorted())
    const documented = readFileSync(
      new URL('../../docs/reference/chains.md', import.meta.url),
      'utf8',
    )
    for (const event of events) {
      for (const name of [String(event['type']), ...Object.keys(event)]) {
        expect(documented).toContain(`\`${name}\``)
      }
    }
  })

  it('is created with its directory', async () => {
    expect((await command('run main --report html=x/y.html --events=z/e')).code).toBe(0)
    expect(readFileSync(join(project.directory, 'x/y.html'), 'utf8')).toContain('<html')
    expect(readFileSync(join(project.directory, 'z/e'), 'utf8')).toContain('run-finished')
  })

  it('changes neither the answer nor the exit code if it becomes unwritable during the run', async () => {
    project.write('a', { run: 'rm -rf x z; mkdir -p x/y.html/in; echo a >> log' })
    const { code, lines, notes } = await command('run main --report html=x/y.html --events=z/e')
    expect(code).toBe(0)
    expect(lines.join('\n')).toContain('main: success')
    expect(notes.filter((note) => note === 'report-not-written')).toHaveLength(2)
    rmSync(join(project.directory, 'x'), { recursive: true })
  })
})
