import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { isChain, type PlannedStep } from '../../src/chain/plan-model.ts'
import { workerRules, type WorkerRules } from '../../src/project/worker-rules.ts'
import { type ChainProject, openProject, planNamed } from '../../src/project/chains.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let files: TestProject
let project: ChainProject
let rules: WorkerRules
let build: PlannedStep
let config: string

beforeEach(async () => {
  files = makeProject({ main: { metadata: ['chain: build'] }, build: log('build') })
  const home = join(files.directory, '../home')
  config = join(home, '.config/skillrail/config.json')
  set({ restate: { via: ['claude'] } })
  const env = { PATH: process.env['PATH'], HOME: home }
  const runtime = systemRuntime({ cwd: files.directory, home, env })
  await files.run(['trust', '--yes'])
  const nothing = (): void => undefined
  project = openProject({
    runtime,
    settings: loadConfiguration(runtime).settings,
    signal: new AbortController().signal,
    globals: { trustWorkspace: false },
    note: nothing,
    diagnose: nothing,
    emit: nothing,
  })
  rules = workerRules(project, ({ models }) => ({ clients: [], models }))
  const [step] = planNamed(project, 'main', { set: [] }).plan.root.steps
  if (step === undefined || isChain(step)) throw new Error('the plan has no step')
  build = step
})
afterEach(() => files.remove())

function set(settings: unknown): void {
  mkdirSync(dirname(config), { recursive: true })
  writeFileSync(config, typeof settings === 'string' ? settings : JSON.stringify(settings))
}

const directory = (): string => join(files.directory, '.skillrail/skills/build')

it('executes a step of a trusted skill, again and again', () => {
  for (const _ of [1, 2]) expect(rules.accept(build)).toBeUndefined()
  expect(rules.refusalOf(directory())).toBeUndefined()
  expect(rules.report().skills.map(({ name }) => name)).toContain('build')
})

it.each(['{', '{"run": {"sandbox": "al"}}', '{"tols": {}}', '\0'])(
  'leaves every step to other workers while the settings are %j',
  (broken) => {
    expect(rules.accept(build)).toBeUndefined()
    set(broken)
    expect(rules.accept(build)).toMatchObject({ kind: 'elsewhere' })
    expect(rules.refusalOf(directory())).toBeDefined()
    expect(rules.report()).toEqual({ skills: [], clients: [] })
    rmSync(config)
    expect(rules.accept(build)).toBeUndefined()
    expect(rules.refusalOf(directory())).toBeUndefined()
  },
)

it('refuses a step that runs in a sandbox only, as soon as the settings say so', () => {
  expect(rules.accept(build)).toBeUndefined()
  set({ run: { sandbox: 'all' } })
  expect(rules.accept(build)).toMatchObject({ kind: 'refused', code: 'sandbox-missing' })
})

it('refuses a step of a project whose trust was taken back', async () => {
  expect(rules.accept(build)).toBeUndefined()
  await new TrustStore(project.context.runtime).revoke(project.workspace)
  expect(rules.accept(build)).toMatchObject({ kind: 'refused', code: 'skill-not-trusted' })
  expect(rules.refusalOf(directory())).toBeDefined()
})

it('gives a run the environment and the limits of the current settings', () => {
  set({ run: { environment: ['DEPLOY_KEY'], timeout: 7 } })
  expect(rules.runSettings()).toMatchObject({ environment: ['DEPLOY_KEY'], timeout: 7 })
  set({ run: { timeout: 5 } })
  expect(rules.runSettings()).toMatchObject({ environment: [], timeout: 5 })
  set('{')
  expect(rules.runSettings()).toMatchObject({ environment: [], timeout: 5 })
})

it('offers no client and no model that the settings no longer name', () => {
  set({ restate: { models: ['openai:small'] } })
  expect(rules.report().clients).toEqual(['openai:small'])
  set({})
  expect(rules.report().clients).toEqual([])
})
