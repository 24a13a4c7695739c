import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox } from '../../src/exec/sandbox/open-sandbox.ts'
import { type CommandAnswer, type CommandFixture, runCommand } from '../chain/_command.ts'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { nobody } from './_outside.ts'
import { bin } from '../command-line.ts'

const probe = await openSandbox()
let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

/** The workspace is untrusted. */
function command(words: readonly string[], fixture: CommandFixture = {}): Promise<CommandAnswer> {
  const [first = '', second = ''] = words
  const name = first === 'run' ? 'run' : `${first} ${second}`
  const args = words.slice(name.split(' ').length)
  return runCommand(name, args, project, { workspaceTrust: 'ask', ...fixture })
}

function journalOf(runId: string): { confinement?: object }[] {
  const text = readFileSync(join(project.runs, `${runId}.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line): { confinement?: object } => JSON.parse(line))
}

interface Result {
  step: string
  status: string
  result: string
  errors: { code: string }[]
}

function resultsOf(answer: CommandAnswer | undefined): Result[] {
  const { attempts }: { attempts: { steps: Result[] }[] } = JSON.parse(JSON.stringify(answer?.json))
  return attempts.at(-1)?.steps ?? []
}

function isSleeping(pid: string, seconds: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`sleep\0${seconds}`)
  } catch {
    return false
  }
}

describe.runIf(probe.ok)('the script of an untrusted skill', () => {
  it('runs in the sandbox, with the script protocol', async () => {
    project.write('a', {
      run: [
        'grep -q chain_state "$SKILLRAIL_STATE" && grep -q chain_state || exit 3',
        'echo kept > "$SKILLRAIL_SCRATCH/file"',
        '[ -z "$(ls)" ] || exit 4',
        'printf \'{"status":"success","result":"%s from %s"}\' "$1" "$PWD" > "$SKILLRAIL_OUTPUT"',
      ].join('\n'),
    })
    const answer = await command(['run', 'a', '--json', 'hello'])
    expect([answer.code, resultsOf(answer)]).toMatchObject([
      0,
      [{ status: 'success', result: 'hello from /tmp/work' }],
    ])
    expect(journalOf(answer.json.runId)[0]?.confinement).toEqual({
      sandbox: 'bubblewrap',
      read: [],
      write: [],
      network: false,
      environment: [],
    })
  })

  it('sees neither the project nor its runs nor the environment', async () => {
    project.write('a', {
      run: `env; ls ${project.directory} 2>/dev/null && exit 1; [ -z "$CREDENTIAL" ]`,
    })
    const answer = await command(['run', 'a', '--json'], { env: { CREDENTIAL: 'x' } })
    expect([answer.code, resultsOf(answer)[0]?.status]).toEqual([0, 'success'])
  })

  it('reports after a failure that it ran in the sandbox, and what would allow more', async () => {
    project.write('a', { run: 'cat package.json' })
    const json = await command(['run', 'a', '--json'])
    expect(resultsOf(json)).toMatchObject([
      {
        status: 'failure',
        sandbox: 'bubblewrap',
        hint: expect.stringMatching(
          /^It ran in a sandbox \(bubblewrap\).*--grant.*skillrail trust /,
        ),
      },
    ])
    const text = await command(['run', 'a'])
    expect(text.lines.join('\n')).toMatch(/✗ a .*in the sandbox: exit code 1/)
    expect(text.lines.join('\n')).toMatch(/failed first: a\n.*\n  It ran in a sandbox/)
  })

  it('is announced in the plan, with the options that would allow more', async () => {
    project.write('a', { run: 'true' })
    for (const words of [
      ['run', 'a', '--dry-run'],
      ['chain', 'plan', 'a'],
    ]) {
      expect((await command(words)).notes.join('\n')).toMatch(/sandbox.*--grant.*skillrail trust /)
    }
  })

  it('receives the state of earlier steps, and its verification runs in the sandbox too', async () => {
    const chain = { metadata: ['chain: [a, b]', 'pass_state: true'] }
    project.write('main', chain)
    project.write('a', { run: 'echo forty-two' })
    project.write('b', {
      run: 'grep -q forty-two "$SKILLRAIL_STATE" && echo seen',
      verify: `grep -q seen && ! ls ${project.directory} 2>/dev/null`,
    })
    const answer = await command(['run', 'main', '--json'])
    expect(resultsOf(answer)).toMatchObject([
      { status: 'success' },
      { status: 'success', result: 'seen', evidence: 'verified' },
    ])
  })

  it('can read, write and see what was granted, and the journal contains no values', async () => {
    const data = join(project.directory, 'data')
    const out = join(project.directory, 'out')
    for (const path of [data, out]) mkdirSync(path)
    writeFileSync(join(data, 'in'), 'input')
    project.write('a', {
      run: `cat ${data}/in > ${out}/copy; (echo x > ${data}/in) 2>/dev/null && exit 1; echo "$TOKEN"`,
    })
    const grants = ['read:data', 'write:out', 'env:TOKEN'].flatMap((text) => ['--grant', text])
    const answer = await command(['run', 'a', '--json', ...grants], { env: { TOKEN: 'for-them' } })
    expect([answer.code, resultsOf(answer)[0]?.result]).toEqual([0, 'for-them'])
    expect(readFileSync(join(out, 'copy'), 'utf8')).toBe('input')
    const [begin] = journalOf(answer.json.runId)
    expect(begin?.confinement).toMatchObject({ environment: ['TOKEN'] })
    expect(JSON.stringify(begin)).not.toContain('for-them')
  })

  it('can use the network only after net:*, and never local sockets', async () => {
    const server = createServer((socket) => socket.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const talk = `const s = require('node:net').connect(${port}, '127.0.0.1'); s.on('error', () => process.exit(1)); s.on('data', (data) => console.log(String(data)))`
    const local = `require('node:net').connect('/tmp/none').on('error', (error) => console.log(error.code))`
    project.write('a', { run: `node -e "${talk}" && node -e "${local}"` })
    const answers = [
      await command(['run', 'a', '--json']),
      await command(['run', 'a', '--json', '--grant', 'net:*']),
    ]
    server.close()
    expect(answers.map(({ code }) => code)).toEqual([1, 0])
    expect(resultsOf(answers[1])[0]?.result).toBe('EAFNOSUPPORT')
  })

  it('ends with Skillrail, even after kill -9', async () => {
    const seconds = String(100_000 + process.pid)
    project.write('a', { run: `setsid sleep ${seconds} & sleep ${seconds}` })
    const env = { PATH: process.env['PATH'], HOME: join(project.directory, '../home') }
    const child = spawn(process.execPath, ['--no-warnings', bin, 'run', 'a'], {
      cwd: project.directory,
      env,
      stdio: 'ignore',
    })
    const count = (): number =>
      readdirSync('/proc').filter((name) => isSleeping(name, seconds)).length
    await expect.poll(count, { timeout: 10_000 }).toBe(2)
    child.kill('SIGKILL')
    await expect.poll(count, { timeout: 10_000 }).toBe(0)
  })

  it('is ended when it exceeds a limit, and the failure names the limit', async () => {
    project.write('a', { run: 'head -c 100000000 /dev/zero' })
    const answer = await command(['run', 'a', '--json'])
    expect([answer.code, resultsOf(answer)[0]?.errors]).toMatchObject([
      1,
      [{ code: 'limit-exceeded' }],
    ])
  })

  it('runs outside the sandbox after --unsafe-no-sandbox, and the journal records that', async () => {
    project.write('a', { run: 'echo outside > made' })
    const answer = await command(['run', 'a', '--json', '--unsafe-no-sandbox'])
    expect(answer.code).toBe(0)
    expect(answer.notes.join()).toMatch(/these run with all your rights: a\b/)
    expect(existsSync(join(project.directory, 'made'))).toBe(true)
    expect(journalOf(answer.json.runId)[0]?.confinement).toEqual({ sandbox: 'off' })
  })

  it('runs in the sandbox again when the run is repeated, since a journal grants nothing', async () => {
    project.write('a', { run: 'echo again >> made; [ ! -e stop ]' })
    writeFileSync(join(project.directory, 'stop'), '')
    const first = await command(['run', 'a', '--json', '--unsafe-no-sandbox'])
    expect(first.code).toBe(1)
    await command(['runs', 'retry', first.json.runId, '--json'])
    expect(readFileSync(join(project.directory, 'made'), 'utf8')).toBe('again\n')
  })
})

describe.runIf(probe.ok)('a grant', () => {
  it.each(['write:.', 'write:.skillrail/skills/a', 'write:.skillrail/skills', 'write:..'])(
    '%s that includes the skill itself is a usage error',
    async (grant) => {
      project.write('a', { run: 'true' })
      expect((await command(['run', 'a', '--grant', grant])).code).toBe(2)
    },
  )
})

describe.runIf(probe.ok)('run.sandbox', () => {
  it('all also runs trusted skills in the sandbox, and chain plan shows that', async () => {
    project.write('a', { run: 'pwd' })
    const fixture = { workspaceTrust: 'trusted', env: { SKILLRAIL_RUN_SANDBOX: 'all' } } as const
    const planned = await command(['chain', 'plan', 'a'], fixture)
    expect(planned.lines.join('\n')).toMatch(/script +trusted .* sandbox/)
    const answer = await command(['run', 'a', '--json'], fixture)
    expect(resultsOf(answer)[0]?.result).toBe('/tmp/work')
  })

  it('refuse runs no untrusted skill', async () => {
    project.write('a', { run: 'true' })
    const refused = await command(['run', 'a'], { env: { SKILLRAIL_RUN_SANDBOX: 'refuse' } })
    expect([refused.code, refused.error?.code]).toEqual([4, 'skill-not-trusted'])
  })
})

describe.runIf(probe.ok)('a trusted skill with sandbox: true', () => {
  it('runs in the sandbox, in the plan and in the run', async () => {
    project.write('a', { metadata: ['sandbox: "true"'], run: 'pwd' })
    const fixture = { workspaceTrust: 'trusted' } as const
    const answer = await command(['run', 'a', '--json'], fixture)
    expect(resultsOf(answer)[0]?.result).toBe('/tmp/work')
  })
})

describe.runIf(probe.ok)('on a machine without user namespaces', () => {
  const users = process.getuid?.() === 0 ? [[], nobody] : [[]]

  it.each(users)('an untrusted script is refused with exit code 4 (%s)', (...prefix) => {
    if (!probe.ok) return
    project.write('a', { run: 'echo ran >> log; chmod 666 log' })
    const base = join(project.directory, '..')
    execFileSync('chmod', ['-R', 'a+rwX', base])
    const container = [probe.program, '--unshare-user', '--disable-userns', '--dev-bind', '/', '/']
    const run = [process.execPath, '--no-warnings', bin, 'run', 'a']
    const [file, ...args] = [...prefix, ...container, '--', ...run]
    const { status, stderr } = spawnSync(file ?? '', args, {
      cwd: project.directory,
      env: { PATH: process.env['PATH'], HOME: join(base, 'home') },
      encoding: 'utf8',
    })
    expect(status).toBe(4)
    expect(stderr).toMatch(/run only in a sandbox, and .*bwrap does not work here/)
    expect(stderr).toMatch(/needs user namespaces/)
    expect(project.log()).toEqual([])
  })
})
