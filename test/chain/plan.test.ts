import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPolicy } from '../../src/chain/policy.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import { type ChainLookup, checkStepName, type SkillFacts } from '../../src/chain/lookup.ts'
import { type PlanOptions, planRun } from '../../src/chain/plan.ts'
import { type CommandJson, runCommand } from './_command.ts'
import { makeProject, type ProjectSkill, type TestProject } from './_project.ts'
import { bin } from '../command-line.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

async function plan(
  skills: Record<string, ProjectSkill>,
  name = 'main',
): Promise<CommandJson & { code: number }> {
  for (const [path, content] of Object.entries(skills)) project.write(path, content)
  const { json, code } = await runCommand('chain plan', ['chain', 'plan', name, '--json'], project)
  return { ...json, code }
}

const script: ProjectSkill = { run: 'true' }
const chainOf = (...steps: string[]): ProjectSkill => ({
  metadata: [`chain: [${steps.join(', ')}]`],
})
const errors = ({ diagnostics }: CommandJson): string[] => diagnostics.map(({ code }) => code)

describe('the search for a step', () => {
  it('prefers a skill beside the chain to a deeper one', async () => {
    const { steps, code } = await plan({
      main: chainOf('unit', 'smoke', 'e2e/smoke'),
      unit: script,
      'deep/unit': script,
      'x/smoke': script,
      'x/y/smoke': script,
      'e2e/smoke': script,
      'x/y/z/e2e/smoke': script,
    })
    expect(code).toBe(3)
    expect(steps[0]?.path).toBe('.skillrail/skills/unit/SKILL.md')
    expect(steps[2]?.path).toBe('.skillrail/skills/e2e/smoke/SKILL.md')
  })

  it('takes the shallowest skill if none is beside the chain', async () => {
    const { steps, code } = await plan({
      main: chainOf('smoke', 'y/smoke'),
      'x/smoke': script,
      'x/y/smoke': script,
      'x/y/z/smoke': script,
    })
    expect(code).toBe(0)
    expect(steps.map(({ path }) => path)).toEqual([
      '.skillrail/skills/x/smoke/SKILL.md',
      '.skillrail/skills/x/y/smoke/SKILL.md',
    ])
  })

  it('finds the steps of a gate by the name in the chain, or by the name of the skill', async () => {
    const chain = 'chain: [e2e/deploy, deploy]'
    const skills = { 'e2e/deploy': script, deploy: script }
    const gatesOf = async (gates: string): Promise<boolean[]> => {
      const { steps } = await plan({ ...skills, main: { metadata: [chain, `gates: ${gates}`] } })
      return steps.map((step) => 'gate' in step && step.gate === true)
    }
    expect(await gatesOf('e2e/deploy')).toEqual([true, false])
    expect(await gatesOf('deploy')).toEqual([true, true])
  })

  it('refuses two skills with one name at one depth', async () => {
    const planned = await plan({ main: chainOf('smoke'), 'x/smoke': script, 'y/smoke': script })
    expect(planned.diagnostics).toMatchObject([
      { code: 'step-ambiguous', message: expect.stringContaining('x/smoke, y/smoke'), line: 5 },
    ])
  })

  it('refuses an ambiguous name, even if a missing step is allowed', async () => {
    const main = { metadata: ['chain: [smoke]', 'validate_on_load: false'] }
    const planned = await plan({ main, 'x/smoke': script, 'y/smoke': script })
    expect([planned.code, ...errors(planned)]).toEqual([3, 'step-ambiguous'])
  })

  it('finds one skill twice in a chain, under two IDs', async () => {
    const { steps } = await plan({ main: chainOf('a', 'b', 'a'), a: script, b: script })
    expect(steps.map(({ step }) => step)).toEqual(['a', 'b', 'a#2'])
  })

  it('gives each step a unique name, whatever the directories are called', async () => {
    const { steps } = await plan({ main: chainOf('a', 'a', 'a#2', 'a'), a: script, 'a#2': script })
    expect(steps.map(({ step }) => step)).toEqual(['a', 'a#2', 'a#2#2', 'a#3'])
    const first = await plan({ main: chainOf('a#2', 'a', 'a', 'a') })
    expect(first.steps.map(({ step }) => step)).toEqual(['a#2', 'a', 'a#3', 'a#4'])
  })

  it('warns of a check in a chain that no other chain calls', async () => {
    const skills = { main: { ...chainOf('sub'), verify: 'true' }, sub: chainOf('a'), a: script }
    expect((await plan(skills)).diagnostics).toMatchObject([
      { code: 'verify-without-step', severity: 'warning' },
    ])
    const called = await plan({ outer: chainOf('main') }, 'outer')
    expect([called.code, called.diagnostics]).toEqual([0, []])
  })

  it.each([
    '..',
    '../audit',
    'a/../../b',
    '/etc',
    'C:/x',
    'a\\b',
    '..\\b',
    './a',
    'a//b',
    'a/',
    '',
    'a\0b',
  ])('refuses the name %j', (name) => {
    expect(checkStepName(name)).toMatchObject({ ok: false, code: 'step-name-refused' })
  })

  it('refuses a link that leads out', async () => {
    project.write('../../outside', script)
    mkdirSync(join(project.directory, '.skillrail/skills'), { recursive: true })
    symlinkSync(
      join(project.directory, 'outside'),
      join(project.directory, '.skillrail/skills/linked'),
    )
    expect(errors(await plan({ main: chainOf('linked') }))).toEqual(['step-escapes'])
  })

  it('follows a link that stays inside', async () => {
    project.write('real', script)
    symlinkSync(
      join(project.directory, '.skillrail/skills/real'),
      join(project.directory, '.skillrail/skills/alias'),
    )
    expect((await plan({ main: chainOf('alias') })).code).toBe(0)
  })

  it('reports a missing step', async () => {
    expect(errors(await plan({ main: chainOf('gone') }))).toEqual(['step-missing'])
  })
})

describe('a plan', () => {
  it('refuses a chain that calls itself', async () => {
    const { diagnostics } = await plan({ main: chainOf('main') })
    expect(diagnostics[0]?.message).toBe('the chain calls itself: main → main')
  })

  it.each([2, 5])('refuses a cycle of %i chains, and shows its path', async (length) => {
    const names = Array.from({ length }, (_, index) => `c${index}`)
    const ring = Object.fromEntries(
      names.map((name, index) => [name, chainOf(names[(index + 1) % length] ?? '')]),
    )
    const { diagnostics, code } = await plan({ main: chainOf('c0'), ...ring })
    expect([code, diagnostics[0]?.code]).toEqual([3, 'chain-cycle'])
    expect(diagnostics[0]?.message).toContain([...names, 'c0'].join(' → '))
  })

  it('refuses a depth beyond the smallest max_depth on the way', async () => {
    const skills = { c: script, b: chainOf('c'), a: chainOf('b') }
    expect(
      (await plan({ ...skills, main: { metadata: ['chain: [a]', 'max_depth: 3'] } })).code,
    ).toBe(0)
    const planned = await plan({ ...skills, main: { metadata: ['chain: [a]', 'max_depth: 2'] } })
    expect(planned.diagnostics[0]).toMatchObject({
      code: 'chain-too-deep',
      message: expect.stringContaining('max_depth allows 2'),
    })
  })

  it('refuses to nest a chain whose max_depth allows no level above', async () => {
    const a = { metadata: ['chain: [c]', 'max_depth: 1'] }
    expect((await plan({ c: script, a }, 'a')).code).toBe(0)
    expect(errors(await plan({ c: script, a, main: chainOf('a') }))).toEqual(['chain-too-deep'])
  })

  it('reports an unknown gate and a missing step in one answer', async () => {
    const planned = await plan({
      main: { metadata: ['chain: [nothing, a]', 'gates: b'] },
      a: script,
    })
    expect(errors(planned).toSorted()).toEqual(['chain-gate-unknown', 'step-missing'])
  })

  it('refuses more steps than a chain can need', async () => {
    const wide = chainOf(...Array.from({ length: 30 }, () => 'w2'))
    const planned = await plan({
      main: chainOf(...Array.from({ length: 30 }, () => 'w1')),
      w1: wide,
      w2: chainOf(...Array.from({ length: 30 }, () => 'leaf')),
      leaf: script,
    })
    expect(errors(planned)).toEqual(['chain-too-large'])
  })
})

it('plans and runs a thousand steps', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 1000 }, () => 'a')
  const planned = await plan({ main: chainOf(...names), a: script })
  expect([planned.code, planned.steps.length]).toEqual([0, 1000])
})

it('warns of an unknown key beside a chain with its line, in a nested chain too', async () => {
  const { diagnostics, code } = await plan({
    main: { metadata: ['chain: [inner]', 'asynk: true'] },
    inner: { metadata: ['chain: [a]', 'time_out: 3'] },
    a: script,
  })
  expect(code).toBe(0)
  expect(diagnostics).toMatchObject([
    { code: 'chain-unknown-key', severity: 'warning', line: 6, hint: 'Did you mean async?' },
    { code: 'chain-unknown-key', severity: 'warning', line: 6, hint: 'Did you mean timeout?' },
  ])
})

it('an empty chain succeeds with a warning', async () => {
  const planned = await plan({ main: { metadata: ['chain: []'] } })
  expect([planned.code, errors(planned)]).toEqual([0, ['chain-empty']])
})

it.each<[Partial<ChainPolicy>, string[]]>([
  [{}, []],
  [{ raceMode: true }, ['race-without-async']],
  [{ async: true, raceMode: true }, []],
  [{ async: true, raceMode: true, earlyExitOn: 'failure' }, ['race-ignores-stop-conditions']],
  [{ async: true, raceMode: true, continueOnError: false }, ['race-ignores-stop-conditions']],
  [{ async: true, continueOnSuccess: true }, ['continue-on-success-with-async']],
  [{ async: true, continueOnSuccess: true, raceMode: true }, ['continue-on-success-with-async']],
])('reports for the policy %j the codes %j', (policy, codes) => {
  const chain = { steps: [], gates: [], line: 1, policy: { ...defaultChainPolicy, ...policy } }
  expect(checkPolicy(chain, 'x').map(({ code }) => code)).toEqual(codes)
})

it('runs nothing without trust and a sandbox, with exit code 4 whatever else is wrong', async () => {
  project.write('main', chainOf('a', 'gone'))
  project.write('a', script)
  const { spawnSync } = await import('node:child_process')
  const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', bin, 'run', 'main'], {
    cwd: project.directory,
    env: {
      PATH: process.env['PATH'],
      HOME: join(project.directory, '../home'),
      SKILLRAIL_RUN_SANDBOX: 'refuse',
    },
    encoding: 'utf8',
  })
  expect(status).toBe(4)
  expect(stderr).toMatch(/skillrail trust/)
})

describe('a plan for a script', () => {
  const skill: SkillFacts = {
    name: 'a',
    directory: '/project/a',
    path: 'a/SKILL.md',
    chain: undefined,
    script: 'scripts/run.sh',
    verify: undefined,
    digest: 'sha256:0',
    tokens: 1,
    requests: [],
    trust: { level: 'untrusted', reason: 'nobody vouches for it' },
  }
  const lookup: ChainLookup = {
    resolve: () => ({ ok: false, code: 'step-missing', message: '' }),
    load: () => ({ facts: undefined, diagnostics: [] }),
  }
  const trusted = { level: 'trusted', reason: '' } as const

  it.each<[string, Partial<SkillFacts>, PlanOptions['sandbox'], true | undefined | 'refused']>([
    ['nobody offers a sandbox', {}, undefined, 'refused'],
    ['the skill is not trusted', {}, 'untrusted', true],
    ['the skill is trusted', { trust: trusted }, 'untrusted', undefined],
    [
      'the skill is trusted and asks for a sandbox',
      { trust: trusted, sandbox: true },
      'untrusted',
      true,
    ],
    [
      'the skill asks for a sandbox, and no other skill gets one',
      { trust: trusted, sandbox: true },
      undefined,
      true,
    ],
    ['all scripts run in a sandbox', { trust: trusted }, 'all', true],
    ['the skill has nothing to run', { trust: trusted, script: undefined }, 'all', undefined],
    [
      'an agent does the work and a script verifies it',
      { script: undefined, verify: 'scripts/verify' },
      'untrusted',
      true,
    ],
  ])('decides about the sandbox if %s', (_case, facts, sandbox, expected) => {
    const instructions = { kind: 'driven' } as const
    const { plan: planned, diagnostics } = planRun({ ...skill, ...facts }, lookup, {
      sandbox,
      instructions,
    })
    const [step] = planned.root.steps
    expect([step?.sandboxed, diagnostics.map(({ code }) => code)]).toEqual(
      expected === 'refused' ? [undefined, ['skill-not-trusted']] : [expected, []],
    )
  })
})
