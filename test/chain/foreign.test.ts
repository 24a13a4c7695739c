import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
const { command, skills, runIdOf } = commandsIn(() => project)

beforeEach(() => {
  project = makeProject()
  skills({
    main: { metadata: ['chain: [build, deploy]', 'gates: deploy'] },
    build: log('build'),
    deploy: log('deploy'),
  })
})
afterEach(() => project.remove())

const journalOf = (run: string): string => join(project.runs, `${run}.jsonl`)

type Line = Record<string, unknown>

function linesOf(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line))
}

/** Lines with the plain sums of version 2, which anybody can compute. */
function forged(lines: readonly Line[]): string {
  let sum = ''
  return lines
    .map(({ sum: _sum, ...line }) => {
      const head = `${JSON.stringify(line).slice(0, -1)},`
      sum = sha256(sum + head).slice('sha256:'.length, 'sha256:'.length + 16)
      return `${head}"sum":"${sum}"}\n`
    })
    .join('')
}

async function waitingRun(): Promise<string> {
  await command('run main')
  return await runIdOf()
}

const orders = ['resume', 'retry', 'fork', 'approve', 'reject', 'cancel', 'show']

describe('a journal that this user did not write', () => {
  it.each(orders)('is foreign to runs %s', async (order) => {
    const run = await waitingRun()
    const lines = linesOf(readFileSync(journalOf(run), 'utf8'))
    const approval = lines.find(({ type }) => type === 'gate')
    const approved = { ...approval, type: 'approval', approved: true, by: 'person' }
    writeFileSync(journalOf(run), forged([...lines, approved]))
    const line = `runs ${order} ${run}${order === 'fork' ? ' --from build' : ''}`
    const { error } = await command(line, { answer: 'y' })
    expect(error?.code).toBe('journal-foreign')
    expect(error?.hint).toContain('skillrail runs import')
    expect(project.log()).toEqual(['build'])
  })

  it('cannot approve its own gate with an added line', async () => {
    const run = await waitingRun()
    const whole = readFileSync(journalOf(run), 'utf8')
    const gate = linesOf(whole).find(({ type }) => type === 'gate')
    const line = JSON.stringify({ ...gate, type: 'approval', approved: true, by: 'person' })
    for (const added of [`${line}\n`, forged([JSON.parse(line)])]) {
      writeFileSync(journalOf(run), whole + added)
      expect((await command(`runs resume ${run}`)).error?.code).toBe('journal-corrupt')
    }
    expect(project.log()).toEqual(['build'])
  })

  it('is foreign if it was copied from another run or another project', async () => {
    const run = await waitingRun()
    cpSync(journalOf(run), journalOf('0copy'))
    const { notes } = await command('runs list')
    expect(notes).toContain('journal-foreign')
    const other = makeProject()
    onTestFinished(() => other.remove())
    mkdirSync(other.runs, { recursive: true })
    cpSync(join(project.runs, '../../../key'), join(other.runs, '../../../key'))
    cpSync(journalOf(run), join(other.runs, `${run}.jsonl`))
    const inOther = commandsIn(() => other)
    expect((await inOther.command(`runs show ${run}`)).error?.code).toBe('journal-foreign')
  })

  it('is foreign after its key was lost, and readable with its SKILLRAIL_STATE_KEY', async () => {
    const run = await waitingRun()
    rmSync(join(project.runs, '../../../key'))
    expect((await command(`runs show ${run}`)).error?.code).toBe('journal-foreign')
    const env = { SKILLRAIL_STATE_KEY: 'of the build machines' }
    await command('run main', { env })
    const shared = await command('runs list --json', { env })
    const [newest] = shared.json.runs
    expect((await command(`runs show ${newest?.runId}`, { env })).code).toBe(0)
    expect((await command(`runs show ${newest?.runId}`)).error?.code).toBe('journal-foreign')
  })
})

it('stores nothing of a run in the project, and a key that only its user can read', async () => {
  await waitingRun()
  expect(existsSync(join(project.directory, '.skillrail/runs'))).toBe(false)
  const key = join(project.runs, '../../../key')
  expect([statSync(key).mode & 0o777, statSync(dirname(key)).mode & 0o777]).toEqual([0o600, 0o700])
})

it('stores journals in state.directory', async () => {
  const state = join(project.directory, '../state')
  const env = { SKILLRAIL_STATE_DIRECTORY: state }
  await command('run main', { env })
  expect(existsSync(join(state, 'projects'))).toBe(true)
  expect((await command('runs list --json', { env })).json.runs).toHaveLength(1)
  expect((await command('runs list --json')).json.runs).toEqual([])
  const relative = await command('runs list', { env: { SKILLRAIL_STATE_DIRECTORY: 'here' } })
  expect(relative.error?.code).toBe('state-directory-relative')
})

describe('runs import', () => {
  /** Writes a journal of version 0.1, with changes that a project could make. */
  async function oldJournal(changes: Line = {}): Promise<{ run: string; path: string }> {
    const run = await waitingRun()
    const lines = linesOf(readFileSync(journalOf(run), 'utf8'))
    const path = join(project.directory, '.skillrail/runs', `${run}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    const [first, ...rest] = lines
    writeFileSync(path, forged([{ ...first, version: 2, ...changes }, ...rest]))
    rmSync(journalOf(run))
    return { run, path }
  }

  it('reads a journal of an earlier version, and only shows it', async () => {
    const { run, path } = await oldJournal()
    const dry = await command(`runs import ${path} --dry-run`)
    expect([dry.code, dry.lines[0]]).toEqual([
      0,
      expect.stringContaining(`main: waiting, run ${run}`),
    ])
    expect((await command(`runs show ${run}`)).error?.code).toBe('run-not-found')
    expect((await command(`runs import ${path}`)).code).toBe(0)
    const shown = await command(`runs show ${run} --json`)
    expect(shown.json).toMatchObject({ status: 'waiting', imported: { from: path } })
    expect((await command('runs list')).lines.at(-1)).toContain('waiting (imported)')
    for (const order of ['resume', 'retry', 'fork', 'approve', 'reject', 'cancel']) {
      const line = `runs ${order} ${run}${order === 'fork' ? ' --from build' : ''}`
      expect((await command(line, { answer: 'y' })).error?.code).toBe('run-imported')
    }
    expect(project.log()).toEqual(['build'])
    expect((await command(`runs import ${path}`)).error?.code).toBe('run-exists')
  })

  it('sends nothing to the server that a journal names', async () => {
    const asked: string[] = []
    const server = createServer((request, answer) => {
      asked.push(`${request.url} ${request.headers.authorization}`)
      answer.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const { run, path } = await oldJournal({
      server: { engine: 'restate', url, adminUrl: url },
      request: { directory: '.skillrail/skills/main', set: [], model: 'openai:x', baseUrl: url },
    })
    const env = { SKILLRAIL_RESTATE_TOKEN: 'secret' }
    for (const line of ['runs list', `runs import ${path}`, 'runs list', `runs show ${run}`]) {
      expect((await command(line, { env })).code).toBe(0)
    }
    for (const line of [`runs retry ${run}`, `runs cancel ${run}`, `chain status ${run}`]) {
      await command(line, { env })
    }
    expect(asked).toEqual([])
  })

  it('is offered once for journals in the project', async () => {
    const { path } = await oldJournal()
    const first = await command('runs list')
    expect(first.notes.join('\n')).toContain(`1 run of an earlier version in ${dirname(path)}`)
    expect((await command('runs list')).notes.join('\n')).not.toContain('earlier version')
  })

  it.each(['nothing.jsonl', '.git/HEAD'])('refuses %s with a sentence', async (file) => {
    writeFileSync(join(project.directory, '.git/HEAD'), 'ref: x\n')
    const { code, error } = await command(`runs import ${file}`)
    expect(code).not.toBe(0)
    expect(error?.message).toMatch(/^(?:there is no run|.*(?:is not|journal))/)
  })
})
