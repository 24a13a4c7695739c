import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judgeVersion } from '../../../src/chain/restate/client.ts'
import { makeProject } from '../_project.ts'

it.each([
  ['1.5.0', 'known'],
  ['1.7.12', 'known'],
  ['v1.9', 'known'],
  ['1.4.9', 'refused'],
  ['0.9.2', 'refused'],
  ['2.0.0', 'newer'],
  ['nightly', 'refused'],
  [undefined, 'refused'],
])('version %j is %s', (version, kind) => {
  expect(judgeVersion(version).kind).toBe(kind)
})

describe('an admin interface that is none that we can work with', () => {
  const project = makeProject({ one: { run: 'echo 1' } })
  let server: Server
  let url: string
  let answer: { status: number; body: string }

  beforeAll(async () => {
    server = createServer((_request, response) => {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  })
  afterAll(() => {
    server.close()
    project.remove()
  })

  it.each([
    [
      'an old server',
      200,
      '{"version":"1.2.3"}',
      'restate-too-old',
      'the server is Restate 1.2.3; at least 1.5 is needed',
    ],
    [
      'a version that nobody knows',
      200,
      '{"version":"nightly"}',
      'restate-version-unknown',
      'reports the version "nightly"',
    ],
    [
      'another program',
      404,
      'not found',
      'restate-version-unknown',
      'does not report a version of Restate',
    ],
  ])(
    '%s is refused with a sentence by run, worker and doctor',
    async (_what, status, body, code, sentence) => {
      answer = { status, body }
      const chosen = ['--url', url, '--admin-url', url]
      const run = await project.cli(['run', 'one', '--json', '--engine', 'restate', ...chosen])
      expect(run.code).toBe(1)
      expect(JSON.parse(run.stdout).error).toMatchObject({ code })
      expect(JSON.parse(run.stdout).error.message).toContain(sentence)
      const worker = await project.cli([
        'worker',
        '--json',
        '--port',
        '0',
        '--register',
        'http://127.0.0.1:1',
        '--admin-url',
        url,
      ])
      expect(worker.code).toBe(1)
      expect(JSON.parse(worker.stdout).error).toMatchObject({ code })
      const doctor = await project.cli(['doctor', '--json', '--engine', 'restate', ...chosen])
      expect(doctor.code).toBe(1)
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(
        expect.objectContaining({
          name: 'restate server',
          status: 'problem',
          found: expect.stringContaining(sentence),
        }),
      )
    },
  )

  it('a newer one than was tried is only warned of', async () => {
    answer = { status: 200, body: '{"version":"3.1.0"}' }
    const doctor = await project.cli([
      'doctor',
      '--json',
      '--engine',
      'restate',
      '--url',
      url,
      '--admin-url',
      url,
    ])
    expect(JSON.parse(doctor.stdout).checks).toContainEqual(
      expect.objectContaining({ name: 'restate server', status: 'warning' }),
    )
  })
})
