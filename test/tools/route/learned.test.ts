import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import {
  forgetExamples,
  learnedPath,
  learnExample,
  readLearned,
  weightOf,
} from '../../../src/tools/route/learned.ts'
import type { ProjectPlace } from '../../../src/tools/cache/stored-tools.ts'

let home: string
let now: number
let place: ProjectPlace & { runtime: Runtime }

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'skillrail-learned-'))
  const project = path.join(home, 'project')
  mkdirSync(project)
  now = Date.parse('2026-05-01T10:00:00Z')
  place = { project, runtime: systemRuntime({ home, env: {}, now: () => now }) }
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

const day = 86_400_000

describe('what is learned', () => {
  it('is kept outside the project and readable by its user alone', async () => {
    await learnExample(place, { request: '  what is\non my plate ', tool: 'github__list_issues' })
    const file = learnedPath(place)
    expect(file.startsWith(place.project)).toBe(false)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readLearned(place).examples).toEqual([
      {
        request: 'what is on my plate',
        tool: 'github__list_issues',
        wrong: false,
        count: 1,
        at: '2026-05-01T10:00:00.000Z',
      },
    ])
  })

  it('belongs to one project', async () => {
    await learnExample(place, { request: 'ship it', tool: 'a__b' })
    const other = { ...place, project: path.join(home, 'other') }
    expect(readLearned(other).examples).toEqual([])
  })

  it('has its secrets masked', async () => {
    const secret = `ghp_${'a1'.repeat(18)}`
    await learnExample(place, { request: `log in with ${secret}`, tool: 'a__b' })
    const text = readFileSync(learnedPath(place), 'utf8')
    expect(text).not.toContain(secret)
    expect(text).toContain('log in with [redacted]')
  })

  it('is counted and made fresh when it is said again', async () => {
    await learnExample(place, { request: 'ship it', tool: 'a__b' })
    now += 30 * day
    const example = await learnExample(place, { request: 'Ship it', tool: 'a__b' })
    expect(example).toMatchObject({ count: 2, at: '2026-05-31T10:00:00.000Z' })
    expect(readLearned(place).examples).toHaveLength(1)
  })

  it('takes back the opposite', async () => {
    await learnExample(place, { request: 'ship it', tool: 'a__b' })
    await learnExample(place, { request: 'ship it', tool: 'a__b', wrong: true })
    expect(readLearned(place).examples).toMatchObject([{ wrong: true, count: 1 }])
  })

  it('counts half after ninety days and is forgotten after more than a year', async () => {
    const example = await learnExample(place, { request: 'ship it', tool: 'a__b' })
    if (example === undefined) throw new Error('nothing was learned')
    expect(weightOf(example, now + 90 * day)).toBeCloseTo(0.5)
    expect(weightOf(example, now - 400 * day)).toBe(1)
    now += 400 * day
    await learnExample(place, { request: 'roll back', tool: 'a__c' })
    expect(readLearned(place).examples.map(({ request }) => request)).toEqual(['roll back'])
  })

  it('is bounded for each tool, the oldest going first', async () => {
    for (let n = 0; n < 25; n++) {
      now += day
      await learnExample(place, { request: `phrase number ${n}`, tool: 'a__b' })
    }
    const requests = readLearned(place).examples.map(({ request }) => request)
    expect(requests).toHaveLength(20)
    expect(requests).not.toContain('phrase number 4')
    expect(requests).toContain('phrase number 24')
  })

  it.each(['', '   ', '!!!', '\u0007'])('is nothing where %j has no words', async (request) => {
    expect(await learnExample(place, { request, tool: 'a__b' })).toBeUndefined()
    expect(readLearned(place).examples).toEqual([])
  })

  it('can be removed', async () => {
    await learnExample(place, { request: 'ship it', tool: 'a__b' })
    await learnExample(place, { request: 'roll back', tool: 'a__c' })
    expect(await forgetExamples(place, ({ tool }) => tool === 'a__b')).toBe(1)
    expect(readLearned(place).examples.map(({ tool }) => tool)).toEqual(['a__c'])
  })
})

describe('a file of examples', () => {
  it.each([
    ['no JSON', '{ "version": 1,', 'examples-unreadable'],
    ['a list', '[]', 'examples-unreadable'],
    ['a newer version', '{ "version": 2, "examples": [] }', 'newer-version'],
  ])('that is %s is reported and never overwritten', async (_name, text, code) => {
    const file = learnedPath(place)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
    expect(readLearned(place)).toMatchObject({ examples: [], diagnostics: [{ code, path: file }] })
    await expect(learnExample(place, { request: 'ship it', tool: 'a__b' })).rejects.toThrow(file)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('loses nothing with many processes', async () => {
    const program = new URL('../../fixtures/programs/learn-examples.ts', import.meta.url).pathname
    const run = promisify(execFile)
    const writers = Array.from({ length: 4 }, (_, n) =>
      run(process.execPath, [program, place.project, home, `tool${n}`, '5'], { env: {} }),
    )
    await Promise.all(writers)
    expect(
      readLearned({ ...place, runtime: systemRuntime({ home, env: {} }) }).examples,
    ).toHaveLength(20)
  })
})
