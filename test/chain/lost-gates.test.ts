import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lostGates } from '../../src/chain/lost-gates.ts'
import type { PlannedStep } from '../../src/chain/plan-model.ts'
import { commandsIn } from './_command.ts'
import { chain, task } from './_plans.ts'
import { log, makeProject, type TestProject } from './_project.ts'

const gate = { gate: true } as const
const a = task('a')
const b = task('b', gate)
const c = task('c')
const before = chain([a, b, c])

describe('a gate of a run', () => {
  it.each<[string, PlannedStep[]]>([
    [
      'a plan with other options of its steps',
      [task('a', { retry: 3 }), b, task('c', { timeout: 5 })],
    ],
    ['more steps behind it', [a, b, c, task('d')]],
    ['fewer steps before it', [b, c]],
    ['another skill under its name', [a, { ...b, digest: 'sha256:other' }, c]],
    ['gates before the others', [task('a', gate), b, c]],
  ])('is kept by %s', (_what, steps) => {
    expect(lostGates(before, chain(steps))).toEqual([])
  })

  it.each<[string, PlannedStep[]]>([
    ['removed', [a, task('b'), c]],
    ['removed with its step', [a, c]],
    ['renamed with its step', [a, task('b2', gate), c]],
    ['moved behind what it stopped', [a, c, b]],
    ['behind a new step', [a, task('d'), b, c]],
    ['made conditional', [a, task('b', { gate: true, when: 'a.failure' }), c]],
    ['left out', [a, task('b', { gate: true, excluded: true }), c]],
    ['avoided by a step that runs always', [a, b, task('c', { always: true })]],
    ['in a nested chain that may be skipped', [a, chain([b], {}, 'n'), c]],
    ['of a step that became a chain without it', [a, chain([task('b/x')], {}, 'b'), c]],
  ])('is lost if it was %s', (_what, steps) => {
    expect(lostGates(before, chain(steps))).toEqual(['b'])
  })

  it('is lost if all steps start at once', () => {
    expect(lostGates(before, chain([a, b, c], { async: true }))).toEqual(['b'])
  })

  it('is followed into nested chains', () => {
    const nested = (more: Partial<PlannedStep>, inner: PlannedStep[]): PlannedStep => {
      const planned: PlannedStep = chain(inner, {}, 'n')
      return Object.assign(planned, more)
    }
    const gated = task('n/b', gate)
    const old = chain([a, nested({}, [task('n/a'), gated]), c])
    expect(lostGates(old, old)).toEqual([])
    const changed = [
      nested({}, [task('n/a'), task('n/b')]),
      nested({ when: 'a.success' }, [task('n/a'), gated]),
      nested({ excluded: true }, [task('n/a'), gated]),
    ]
    for (const step of changed) expect(lostGates(old, chain([a, step, c]))).toEqual(['n/b'])
  })
})

let project: TestProject
beforeEach(() => {
  project = makeProject()
  skills({
    build: log('build'),
    deploy: log('deploy'),
    main: { metadata: ['chain: |', '  build', '  deploy gate'] },
  })
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)
const changes: [string, string[]][] = [
  ['removed', ['  build', '  deploy']],
  ['renamed', ['  build', '  deploy id=ship']],
  ['moved', ['  build', '  deploy id=ship', '  deploy gate']],
  ['conditional', ['  build', '  deploy id=ship gate when=build.failure', '  deploy id=other']],
]
const repetitions = [
  'resume RUN',
  'resume RUN --force',
  'retry RUN',
  'fork RUN --from deploy',
  'fork RUN --from build',
]

describe('a run that waits at a gate', () => {
  it.each(changes)(
    'is not continued without an answer when the gate was %s',
    async (_what, steps) => {
      await command('run main')
      const run = await runIdOf()
      const journal = (): string => readFileSync(join(project.runs, `${run}.jsonl`), 'utf8')
      const known = journal()
      project.write('main', { metadata: ['chain: |', ...steps] })
      for (const answer of [undefined, 'n']) {
        for (const line of repetitions) {
          const { code, error } = await command(`runs ${line.replace('RUN', run)}`, { answer })
          expect(code).not.toBe(0)
          expect([
            'gates-removed',
            'gate-removal-needs-terminal',
            'gate-removal-refused',
            'step-unknown',
          ]).toContain(error?.code)
          const others = ['retry', 'fork'].filter((name) => !line.startsWith(name))
          for (const name of others) expect(error?.hint ?? '').not.toContain(`runs ${name}`)
        }
      }
      expect((await command(`runs approve ${run}`, { answer: 'y' })).error?.code).toBe(
        'gates-removed',
      )
      expect(project.log()).toEqual(['build'])
      expect(journal()).toBe(known)
      expect((await command('runs list --json')).json.runs).toHaveLength(1)
    },
  )

  it.each(['resume RUN --force', 'retry RUN', 'fork RUN --from deploy'])(
    'continues with %s after a user removed the gate, which the journal records',
    async (line) => {
      await command('run main')
      const run = await runIdOf()
      project.write('main', { metadata: ['chain: |', '  build', '  deploy'] })
      expect((await command(`runs ${line.replace('RUN', run)}`, { answer: 'y' })).code).toBe(0)
      expect(project.log()).toEqual(['build', 'deploy'])
      const journal = readFileSync(join(project.runs, `${await runIdOf()}.jsonl`), 'utf8')
      expect(journal).toContain('"removedGates":{"steps":["deploy"]')
    },
  )

  it.each(['resume RUN --force', 'retry RUN', 'fork RUN --from deploy'])(
    'keeps a signed gate, whatever is answered to %s',
    async (line) => {
      project.write('main', { metadata: ['chain: |', '  build', '  deploy gate=signed'] })
      await command('run main')
      const run = await runIdOf()
      for (const step of ['  deploy', '  deploy gate', '  deploy gate=attended']) {
        project.write('main', { metadata: ['chain: |', '  build', step] })
        const { code, error } = await command(`runs ${line.replace('RUN', run)}`, { answer: 'y' })
        expect(code).not.toBe(0)
        expect(error).toMatchObject({
          code: 'signed-gate-kept',
          hint: expect.stringContaining('start a new run'),
        })
        const plain = await command(`runs resume ${run}`, { answer: 'y' })
        expect(plain.error?.hint).toContain('start a new run')
        expect(plain.error?.hint).not.toContain('--force')
      }
      expect(project.log()).toEqual(['build'])
      expect((await command('runs list --json')).json.runs).toHaveLength(1)
    },
  )

  it('shows who removed a gate, and when', async () => {
    await command('run main')
    const run = await runIdOf()
    project.write('main', { metadata: ['chain: |', '  build', '  deploy'] })
    await command(`runs resume ${run} --force`, { answer: 'y' })
    const { lines } = await command(`runs show ${run}`)
    const removal = /^deploy: gate removed from this run by \S.*, \d{4}-\d\d-\d\dT/
    expect(lines.filter((line) => removal.test(line))).toHaveLength(1)
  })

  it('takes no decision after it was cancelled, until a user resumes it', async () => {
    await command('run main')
    const run = await runIdOf()
    await command(`runs cancel ${run}`)
    for (const decision of ['approve', 'reject']) {
      const { error } = await command(`runs ${decision} ${run}`, { answer: 'y' })
      expect(error).toMatchObject({
        code: 'run-cancelled',
        hint: expect.stringContaining(`runs resume ${run}`),
      })
    }
    expect(project.log()).toEqual(['build'])
    expect((await command(`runs resume ${run}`)).code).toBe(6)
    expect((await command(`runs approve ${run}`, { answer: 'y' })).code).toBe(0)
    expect(project.log()).toEqual(['build', 'deploy'])
  })

  it.each(['main/SKILL.md', 'main', 'deploy'])('keeps its gate if %s is missing', async (path) => {
    await command('run main')
    const run = await runIdOf()
    rmSync(join(project.directory, '.skillrail/skills', path), { recursive: true })
    for (const line of repetitions) {
      const { code, error } = await command(`runs ${line.replace('RUN', run)}`, { answer: 'y' })
      expect(code).not.toBe(0)
      expect(error?.hint ?? '').not.toMatch(/runs (?:retry|fork)/)
    }
    expect(project.log()).toEqual(['build'])
  })
})
