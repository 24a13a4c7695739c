import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)
const file = (name: string): string => join(project.directory, name)

describe('chain status', () => {
  it('shows the status of the run above its steps', async () => {
    skills({ main: { metadata: ['chain: [think]'] }, think: {} })
    await command('chain start main')
    const run = await runIdOf()
    const { lines } = await command(`chain status ${run}`)
    expect(lines[0]).toMatch(`main: waiting, run ${run}, started 20`)
    await command(`chain report ${run} --step think --status failure`)
    expect((await command(`chain status ${run}`)).lines[0]).toMatch(`main: failure, run ${run}`)
  })
})

describe('a skill that is broken', () => {
  beforeEach(() => {
    skills({ main: { metadata: ['chain: [bad]'] }, bad: log('bad') })
    writeFileSync(file('.skillrail/skills/bad/SKILL.md'), '---\nname: bad\n---\nNo description.\n')
  })

  it.each(['run', 'run --dry-run', 'chain plan', 'chain start'])(
    'cannot be planned by %s, by its name, by its path and as a step: exit code 3',
    async (words) => {
      for (const name of ['bad', '.skillrail/skills/bad', 'main']) {
        const { code, error, notes } = await command(`${words} ${name}`)
        expect(code).toBe(3)
        const codes = error?.diagnostics.map((diagnostic) => diagnostic.code) ?? notes
        expect(codes).toContain('description-missing')
      }
    },
  )
})

describe('a report', () => {
  beforeEach(() => skills({ main: { metadata: ['chain: [a]'] }, a: log('a') }))

  it('goes to standard output if its file is called -', async () => {
    const { lines } = await command('run main --report junit=-')
    expect(lines.join('\n')).toMatch(/^<\?xml .*\n<testsuites .*<\/testsuites>$/s)
  })

  it('goes to standard output for GitHub if the user requests it, in any job', async () => {
    const env = { GITHUB_STEP_SUMMARY: file('summary.md') }
    const { lines } = await command('run main --report github=-', { env })
    expect(lines[0]).toBe('## main: success')
  })

  it.skipIf(process.platform === 'win32')(
    'is refused at once if its file is a circular link',
    async () => {
      symlinkSync('loop', file('loop'))
      expect(await command('run main --report html=loop')).toMatchObject({ code: 2 })
      expect(project.log()).toEqual([])
    },
  )

  it('goes into files for an old run as for a new one', async () => {
    await command('run main')
    const show = `runs show ${await runIdOf()}`
    const { lines } = await command(`${show} --report html=x/a.html --report junit=x/a.xml`)
    expect(lines[0]).toMatch(/^main: success/)
    expect(readFileSync(file('x/a.html'), 'utf8')).toContain('<html')
    expect(readFileSync(file('x/a.xml'), 'utf8')).toContain('<testsuites')
  })

  it('is printed for an old run, even in a job of GitHub Actions', async () => {
    await command('run main')
    const env = { GITHUB_STEP_SUMMARY: file('summary.md') }
    const { lines } = await command(`runs show ${await runIdOf()} --report github`, { env })
    expect(lines[0]).toBe('## main: success')
  })

  it('cannot be printed together with --json for an old run', async () => {
    await command('run main')
    const show = `runs show ${await runIdOf()} --json`
    expect(await command(`${show} --report html`)).toMatchObject({ code: 2 })
    expect((await command(`${show} --report html=a.html`)).json.runId).toBe(await runIdOf())
  })
})

describe.skipIf(process.platform === 'win32')('a report into a named pipe', () => {
  beforeEach(() => {
    skills({ main: { metadata: ['chain: [a]'] }, a: log('a') })
    spawnSync('mkfifo', [file('pipe')])
  })

  it('reaches the reader of the pipe, and keeps the pipe', async () => {
    const pipe = openSync(file('pipe'), constants.O_RDWR | constants.O_NONBLOCK)
    try {
      const { notes } = await command('run main --report json=pipe')
      const read = Buffer.alloc(65_536)
      const text = read.toString('utf8', 0, readSync(pipe, read))
      expect(JSON.parse(text).status).toBe('success')
      expect(notes).not.toContain('report-not-written')
      expect(statSync(file('pipe')).isFIFO()).toBe(true)
    } finally {
      closeSync(pipe)
    }
  })

  it('waits for no reader, and changes no exit code', async () => {
    const { code, notes } = await command('run main --report json=pipe')
    expect([code, notes]).toEqual([0, expect.arrayContaining(['report-not-written'])])
  })
})

describe('events', () => {
  beforeEach(() => skills({ main: { metadata: ['chain: [a]'] }, a: log('a') }))

  it('go to standard output if their file is called -', async () => {
    const { lines } = await command('run main --events=-')
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      'run-started',
      'step-started',
      'step-output',
      'step-finished',
      'run-finished',
    ])
  })

  it.skipIf(process.platform === 'win32')('all reach the reader of a named pipe', async () => {
    spawnSync('mkfifo', [file('pipe')])
    const reader = spawn('cat', [file('pipe')])
    let text = ''
    reader.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    // Once more where the reader has not opened it yet.
    const ended = new Promise((resolve) => reader.on('close', resolve))
    let answer = await command('run main --events=pipe')
    while (answer.code === 2) answer = await command('run main --events=pipe')
    await ended
    expect(answer.code).toBe(0)
    expect(text.trim().split('\n')).toHaveLength(5)
  })

  it.skipIf(process.platform === 'win32')('wait for no reader of a named pipe', async () => {
    spawnSync('mkfifo', [file('pipe')])
    const { code, error } = await command('run main --events=pipe')
    expect([code, error?.message]).toEqual([2, expect.stringContaining('no process reads from it')])
    expect(project.log()).toEqual([])
  })

  it('are reported without another exit code if a step deletes their file', async () => {
    mkdirSync(file('x'))
    skills({ a: { run: 'rm -r x; echo a >> log' } })
    const { code, notes } = await command('run main --events=x/e')
    expect([code, notes]).toEqual([0, expect.arrayContaining(['report-not-written'])])
    rmSync(file('x'), { force: true, recursive: true })
  })
})
