import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { lastUserText } from '../model-server/read-request.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { answerOf, steps } from './_engines.ts'
import { eventually, onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'

const model = 'openai-compatible:small'

describe('a step that a model executes on a worker', () => {
  let server: Server
  let project: TestProject
  let models: ModelServer
  let worker: WorkerProcess | undefined
  let silent = false

  beforeAll(async () => {
    server = await ownServer()
    models = await startModelServer(() =>
      silent
        ? { silent: true }
        : {
            text: '{"status":"success","result":"fine","errors":[],"metrics":[]}',
            usage: { input: 70, output: 7 },
          },
    )
    project = makeProject({
      prepare: { run: 'echo "42 files"' },
      review: { body: 'REVIEW THE FILES named $ARGUMENTS.' },
      main: { metadata: ['chain: "prepare review"', 'pass_state: true'] },
    })
    await startWith(['--model', model, '--base-url', `${models.url}/v1`])
  })
  afterAll(async () => {
    await endWorker()
    await server.stop()
    server.cleanUp()
    await models.close()
    project.remove()
  })

  async function startWith(more: readonly string[]): Promise<void> {
    worker = await startWorkerOf(project, {
      server,
      port: worker?.port,
      more,
      env: { SKILLRAIL_RESTATE_PATIENCE: '2' },
    })
  }

  async function endWorker(): Promise<void> {
    worker?.kill('SIGTERM')
    await worker?.ended
  }

  // The machine that hands the run over needs neither the address nor a key of the model.
  const run = ['run', 'main', '--model', model, '--json']

  it('receives the skill, its arguments and the state, and its usage is part of the metrics', async () => {
    const result = answerOf(await project.cli([...run, ...onServer(server), 'src/a.ts']))
    expect(result).toMatchObject({ code: 0, status: 'success' })
    expect(steps(result)[1]).toMatchObject({
      result: 'fine',
      evidence: 'self-reported',
      metrics: { input_tokens: 70, output_tokens: 7, model_calls: 1 },
    })
    const told = models.prompts().map(lastUserText)[0] ?? ''
    for (const mark of ['REVIEW THE FILES named src/a.ts.', '42 files'])
      expect(told).toContain(mark)
  })

  it('ends the request to the model when the run is cancelled', async () => {
    silent = true
    const promptCount = models.prompts().length
    const running = project.start([...run, ...onServer(server), 'src/a.ts'])
    await eventually(() => models.prompts().length > promptCount || undefined, 'the model is asked')
    const { runs } = JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout)
    expect((await project.cli(['runs', 'cancel', runs[0].runId])).code).toBe(0)
    expect((await running.ended).code).toBe(130)
    silent = false
  })

  it('is executed only if a worker allows the model', async () => {
    const doctor = await project.cli(['doctor', '--json', ...onServer(server)])
    expect(doctor.stdout).toContain(`can use ${model}`)
    await endWorker()
    await startWith([])
    const result = answerOf(await project.cli([...run, ...onServer(server)]))
    expect(steps(result)[1]?.errors).toMatchObject([{ code: 'no-worker' }])
    expect(steps(result)[1]?.errors[0]?.message).toContain(
      `only when it is started with --model ${model}`,
    )
  })
})
