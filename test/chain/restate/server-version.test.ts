import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireVersion } from '../../../src/chain/restate/client.ts'
import { makeProject } from '../_project.ts'

describe('the version of an admin interface', () => {
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
      'is Restate 1.2.3; at least 1.5 is needed',
    ],
    [
      'a version that nobody knows',
      200,
      '{"version":"nightly"}',
      'restate-version-unknown',
      'does not report a version of Restate',
    ],
    [
      'another program',
      404,
      'not found',
      'restate-version-unknown',
      'does not report a version of Restate',
    ],
  ])(
    'is refused with a sentence by run, worker and doctor: %s',
    async (_what, status, body, code, sentence) => {
      answer = { status, body }
      const chosen = ['--url', url, '--admin-url', url]
      const run = await project.cli(['run', 'one', '--json', '--engine', 'restate', ...chosen])
      expect(run.code).toBe(1)
      expect(JSON.parse(run.stdout).error).toMatchObject({ code })
      expect(JSON.parse(run.stdout).error.message).toContain(sentence)
      const worker = await project.cli([
        'runs',
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

  it.each(['1.5.0', '1.7.12', 'v1.9', '2.0.0'])('is accepted: %s', async (version) => {
    answer = { status: 200, body: JSON.stringify({ version }) }
    expect(await requireVersion({ url, adminUrl: url })).toBe(version)
  })

  it.each(['1.4.9', '0.9.2', 'nightly', undefined])('is refused: %s', async (version) => {
    answer = { status: 200, body: JSON.stringify({ version }) }
    await expect(requireVersion({ url, adminUrl: url })).rejects.toThrow('1.5 is needed')
  })
})
