import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { type ChainProject, openProject, usablePlan } from '../../src/project/chains.ts'
import {
  continuedRun,
  nextSteps,
  planForStepper,
  recordSteps,
  reportAboutStep,
  scriptsToRun,
  standingOfSteps,
  startSteps,
  stepperRequest,
  type StepperRun,
  textOfStep,
} from '../../src/project/stepper.ts'
import type { NewStepperRun } from '../../src/chain/stepper.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let files: TestProject
let project: ChainProject
beforeEach(() => {
  files = makeProject({
    main: { metadata: ['chain: [think, build, check, tell]'] },
    scripts: { metadata: ['chain: [build, check, think]'] },
    parallel: { metadata: ['chain: [build, think, check]', 'async: true'] },
    gated: { metadata: ['chain: [think, build]', 'gates: build'] },
    think: { body: 'Think about $ARGUMENTS.' },
    tell: { body: 'Tell everybody.' },
    build: log('build'),
    check: log('check'),
  })
  project = projectAt(files)
})
afterEach(() => files.remove())

function projectAt({ directory }: TestProject): ChainProject {
  const home = `${directory}/../home`
  const env = { PATH: process.env['PATH'], HOME: home, SKILLRAIL_WORKSPACE_TRUST: 'trusted' }
  const runtime = systemRuntime({ cwd: directory, home, env })
  const nothing = (): void => undefined
  return openProject({
    runtime,
    settings: loadConfiguration(runtime).settings,
    signal: new AbortController().signal,
    globals: { trustWorkspace: false },
    note: nothing,
    diagnose: nothing,
    emit: nothing,
  })
}

async function planned(skill: string): Promise<NewStepperRun> {
  const reading = planForStepper(project, skill)
  const plan = await usablePlan(project, reading)
  return {
    plan,
    request: stepperRequest(reading),
    arguments: ['the wood'],
    requireVerified: false,
  }
}

const reopened = (runId: string): Promise<StepperRun> =>
  continuedRun(project, project.store.read(runId))

const success = (step: string) => ({
  step,
  output: {
    status: 'success',
    result: 'done',
    errors: [],
    metrics: {},
    evidence: 'self-reported',
  } as const,
})

const dueIn = async (runId: string): Promise<string[]> =>
  (await scriptsToRun(project, runId)).map(({ step }) => step)

it('drives a chain from its start to its result without a command', async () => {
  const first = await startSteps(project, await planned('main'))
  expect(first.next).toMatchObject([
    { step: 'think', attempt: 1, content: expect.stringContaining('Think about the wood.') },
  ])
  const run = await reopened(first.runId)
  const second = await reportAboutStep(project, run, success('think'))
  expect(second.next).toMatchObject([
    { step: 'tell', content: expect.stringContaining('did-check') },
  ])
  const last = await reportAboutStep(project, run, success('tell'))
  expect(last.result).toMatchObject({ status: 'success' })
  expect(files.log()).toEqual(['build', 'check'])
})

it('returns the text of any step of the plan, with the arguments in place', async () => {
  const { plan } = await planned('main')
  const text = textOfStep(project, { plan, arguments: ['tea'] }, 'think')
  expect(text).toContain('Think about tea.')
  expect(textOfStep(project, { plan, arguments: [] }, 'nowhere')).toBe('')
})

describe('a run that is recorded and not started', () => {
  it('executes nothing until a caller requests its steps', async () => {
    const { runId } = await recordSteps(project, await planned('scripts'))
    expect(files.log()).toEqual([])
    const { next } = await nextSteps(project, await reopened(runId))
    expect(next).toMatchObject([{ step: 'think' }])
    expect(files.log()).toEqual(['build', 'check'])
  })

  it.each([
    ['main', []],
    ['scripts', ['build']],
    ['parallel', ['build', 'check']],
    ['gated', []],
  ])('would, for the chain %s, first execute the scripts %j', async (skill, scripts) => {
    const { runId } = await recordSteps(project, await planned(skill))
    expect(await dueIn(runId)).toEqual(scripts)
    expect(files.log()).toEqual([])
  })

  it('has no script to execute once its first step is handed out', async () => {
    const { runId } = await recordSteps(project, await planned('scripts'))
    await nextSteps(project, await reopened(runId))
    expect(await dueIn(runId)).toEqual([])
    const { answer } = await standingOfSteps(project, project.store.read(runId))
    expect(answer).toMatchObject({ kind: 'next', next: [{ step: 'think', attempt: 1 }] })
  })

  it('is refused when a skill was changed in between', async () => {
    const { runId } = await recordSteps(project, await planned('main'))
    files.write('think', { body: 'Think of something else.' })
    await expect(reopened(runId).then((run) => nextSteps(project, run))).rejects.toMatchObject({
      code: 'plan-changed',
    })
  })
})
