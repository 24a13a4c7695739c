import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const chain = {
  ship: { metadata: ['chain: |', '  publish gate'] },
  publish: { body: 'PUBLISH IT.' },
}

describe('a rail in lists', () => {
  it('has its client, its step and what it waits for', async () => {
    const session = makeSession(chain)
    const listed = async () => {
      const json = JSON.parse((await session.cli('runs', 'list', '--json')).stdout)
      return json.runs[0].rail
    }
    await session.prompt('/ship')
    expect(await listed()).toEqual({
      client: 'claude',
      step: 'publish',
      waitsFor: 'your approval',
    })
    const { stdout } = await session.cli('runs', 'list')
    expect(stdout).toContain('claude: publish, waits for your approval')
    const overview = await session.cli()
    expect(overview.stdout).toContain('claude: publish, waits for your approval')
    expect(overview.stdout).toContain(`skillrail runs approve ${session.runId()}`)
    await session.prompt('rail approve')
    expect(await listed()).toEqual({ client: 'claude', step: 'publish', waitsFor: 'the agent' })
    await session.prompt('rail pause')
    expect(await listed()).toMatchObject({ waitsFor: 'rail resume' })
  })

  it('gives `run.notify` the line that approves, for each channel', async () => {
    const session = makeSession(chain)
    Object.assign(session.env, { SKILLRAIL_RUN_NOTIFY: 'cat > notified' })
    await session.prompt('/ship')
    const runId = session.runId()
    expect(JSON.parse(session.read('notified'))).toMatchObject({
      runId,
      status: 'waiting',
      approvals: [
        {
          step: 'publish',
          strength: 'prompted',
          approveWith: [
            { channel: 'session', client: 'claude', line: 'rail approve publish' },
            { channel: 'terminal', line: `skillrail runs approve ${runId} --step publish` },
            { channel: 'view', line: `skillrail view ${runId} --open` },
          ],
        },
      ],
    })
  })

  it('has the tree of its end in the proof, with the client', async () => {
    const session = makeSession(chain)
    const git = (...words: string[]): string =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b', ...words], {
        cwd: session.directory,
        env: { PATH: process.env['PATH'], HOME: session.home },
        encoding: 'utf8',
      }).trim()
    git('add', '--all')
    git('commit', '--quiet', '--message', 'a chain')
    await session.prompt('/ship')
    const runId = session.runId()
    await session.prompt('rail approve')
    session.write('published', 'x')
    await session.cli(
      'chain',
      'report',
      session.runId(),
      '--step',
      'publish',
      '--status',
      'success',
    )
    await session.stop()
    const { stdout } = await session.cli('runs', 'proof', '--json')
    const { file, proof } = JSON.parse(stdout)
    expect(file).toBe(join(session.directory, '.skillrail/proofs', `${runId}.json`))
    expect(proof.predicate).toMatchObject({
      run: { status: 'success' },
      repository: { uncommitted: { paths: ['published'] } },
      approvals: [{ step: 'publish', channel: 'prompt', strength: 'prompted' }],
      versions: { client: { name: 'claude' } },
    })
    git('add', '--all')
    git('commit', '--quiet', '--message', 'published')
    expect((await session.cli('runs', 'check-proof', '--commit', 'HEAD')).code).toBe(0)
  })
})
