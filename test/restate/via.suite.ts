import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { clientCacheDirectory, installClients } from '../clients/cache.ts'
import { recipes } from '../clients/clients.ts'
import { makeHome } from '../clients/home.ts'
import { startModelServer } from '../model-server/server.ts'
import { answerOf, contentOf, steps } from './_engines.ts'
import { eventually, onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'

const answer =
  'printf "I looked.\\n\\n\\`\\`\\`yaml\\noutput:\\n  status: success\\n  result: fine\\n\\`\\`\\`\\n"'

describe('a step that an agent client executes on a worker', () => {
  let server: Server
  let project: TestProject
  let worker: WorkerProcess | undefined

  beforeAll(async () => {
    server = await ownServer()
    project = makeProject({
      prepare: { run: 'echo "42 files"' },
      review: { body: 'REVIEW THE FILES named $ARGUMENTS.' },
      main: { metadata: ['chain: "prepare review"', 'pass_state: true'] },
    })
    fakeClient('sleep 60 & echo $! > below; echo $$ > pid; wait')
    await startWith(['--via', 'claude'])
  })
  afterAll(async () => {
    await endWorker()
    await server.stop()
    server.cleanUp()
    project.remove()
  })

  function fakeClient(script: string): void {
    const bin = join(project.directory, '../bin')
    mkdirSync(bin, { recursive: true })
    const path = join(bin, 'claude')
    writeFileSync(path, `#!/bin/sh\ncat > "$PWD/prompt"\nenv > "$PWD/env"\n${script}\n`)
    chmodSync(path, 0o755)
  }

  async function startWith(more: readonly string[]): Promise<void> {
    const path = `${join(project.directory, '../bin')}:${process.env['PATH']}`
    worker = await startWorkerOf(project, {
      server,
      port: worker?.port,
      more,
      env: { SKILLRAIL_RESTATE_PATIENCE: '2', PATH: path },
    })
  }

  async function endWorker(): Promise<void> {
    worker?.kill('SIGTERM')
    await worker?.ended
  }

  // The machine that hands the run over does not need the client.
  const run = ['run', 'main', '--via', 'claude', '--json']

  it('is ended with its whole process group when the run is cancelled', async () => {
    const running = project.start([...run, ...onServer(server), 'src/a.ts'])
    const pid = await eventually(() => contentOf(project, 'pid'), 'the client runs')
    const { runs } = JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout)
    expect((await project.cli(['runs', 'cancel', runs[0].runId])).code).toBe(0)
    expect((await running.ended).code).toBe(130)
    expect(isAlive(pid)).toBe(false)
    expect(isAlive(contentOf(project, 'below'))).toBe(false)
  })

  it('receives the skill, its arguments and the state, and answers with its output block', async () => {
    fakeClient(answer)
    const result = answerOf(await project.cli([...run, ...onServer(server), 'src/a.ts']))
    expect(result).toMatchObject({ code: 0, status: 'success' })
    expect(steps(result)[1]).toMatchObject({ result: 'fine', evidence: 'self-reported' })
    const prompt = readFileSync(join(project.directory, 'prompt'), 'utf8')
    expect(prompt).toContain('REVIEW THE FILES named src/a.ts.')
    expect(prompt).toContain('42 files')
    const journal = readFileSync(join(project.runs, `${result.runId}.jsonl`), 'utf8')
    expect(journal).toContain('"client":"claude"')
  })

  it('is listed by doctor, and executed only if a worker allows it', async () => {
    const doctor = await project.cli(['doctor', '--json', ...onServer(server)])
    expect(doctor.stdout).toContain('can use claude')
    await endWorker()
    await startWith([])
    const result = answerOf(await project.cli([...run, ...onServer(server)]))
    expect(result.status).toBe('failure')
    expect(steps(result)[1]?.errors).toMatchObject([{ code: 'no-worker' }])
    expect(steps(result)[1]?.errors[0]?.message).toContain(
      'only when it is started with --via claude',
    )
  })

  it('through a client that is not installed is refused when the worker starts', async () => {
    const { code, stderr } = await project.cli(['runs', 'worker', '--port', '0', '--via', 'qwen'])
    expect(code).toBe(3)
    expect(stderr).toContain('Qwen Code is not installed')
    const wrong = await project.cli(['runs', 'worker', '--port', '0', '--via', 'nobody'])
    expect(wrong.code).toBe(2)
  })
})

const installed = join(clientCacheDirectory(), 'node_modules/@anthropic-ai')

describe.skipIf(!existsSync(installed))(
  `a real client on a worker${existsSync(installed) ? '' : ' (it is not in the cache of the client tests)'}`,
  () => {
    it('receives all of the input, and its answer is the result of the step', async () => {
      const program = installClients(['claude'], { latest: false }).get('claude')?.program ?? ''
      const model = await startModelServer([
        'Seen.\n\n```yaml\noutput:\n  status: success\n  result: seven findings\n```',
      ])
      const recipe = recipes.claude
      const home = makeHome(recipe, model.url)
      symlinkSync(program, join(home.home, 'bin', 'claude'))
      const project = makeProject({
        prepare: { run: 'echo "42 files"' },
        review: { body: 'REVIEW WITH CARE: $ARGUMENTS.' },
        main: { metadata: ['chain: "prepare review"', 'pass_state: true'] },
      })
      const server = await ownServer()
      const worker = await startWorkerOf(project, {
        server,
        env: {
          PATH: home.path,
          HOME: home.home,
          SKILLRAIL_RESTATE_VIA: 'claude',
          SKILLRAIL_RUN_ENVIRONMENT: 'MOCK_KEY',
          ...recipe.environment(model.url),
        },
      })
      try {
        const run = ['run', 'main', '--via', 'claude', '--json', ...onServer(server), 'src/a.ts']
        const result = answerOf(await project.cli(run))
        expect(steps(result)[1]).toMatchObject({ status: 'success', result: 'seven findings' })
        const prompts = model.prompts().map(({ body }) => body)
        const marks = ['REVIEW WITH CARE', 'src/a.ts', '42 files']
        expect(prompts.some((body) => marks.every((mark) => body.includes(mark)))).toBe(true)
      } finally {
        worker.kill('SIGTERM')
        await worker.ended
        await server.stop()
        server.cleanUp()
        await model.close()
        project.remove()
        rmSync(home.home, { recursive: true, force: true })
      }
    })
  },
)

/** A process that has ended may still be listed if no parent read its exit status. */
function isAlive(pid: string | undefined): boolean {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'))
}
