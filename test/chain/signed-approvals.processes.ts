import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signerOf, statementOf } from '../../src/project/signed-approvals.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { openRunStore } from '../../src/chain/run-store.ts'
import { commandsIn } from './_command.ts'
import { log, makeProject, placeOf, type TestProject } from './_project.ts'

const hasKeygen = spawnSync('ssh-keygen', ['-Y', 'nothing']).error === undefined

let project: TestProject
let home: string
beforeEach(() => {
  project = makeProject()
  home = join(project.directory, '../home')
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)
const yes = { answer: 'y' }

/** Makes a key; returns its line for a list of allowed signers. */
function makeKey(name: string, options = 'ada@example.com'): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)])
  const key = readFileSync(join(home, `${name}.pub`), 'utf8')
  return `${options} ${key}`
}

function configureGit(signers: string): void {
  const lines = ['[user]', `signingKey = ${home}/key.pub`, '[gpg "ssh"]']
  writeFileSync(
    join(home, '.gitconfig'),
    [...lines, `allowedSignersFile = ${signers}`, ''].join('\n'),
  )
}

/** A run that waits at \`gate=signed\`. */
async function waitingRun(): Promise<string> {
  skills({ main: { metadata: ['chain: |', '  build', '  deploy gate=signed'] } })
  skills({ build: log('build'), deploy: log('deploy') })
  expect((await command('run main')).code).toBe(6)
  return await runIdOf()
}

async function codeOf(line: string, fixture: object = yes): Promise<string | undefined> {
  return (await command(line, fixture)).error?.code
}

function approvalIn(run: string) {
  const text = readFileSync(join(project.runs, `${run}.jsonl`), 'utf8')
  const line = text.split('\n').find((one) => one.includes('"type":"approval"')) ?? '{}'
  return JSON.parse(line)
}

describe.skipIf(!hasKeygen)('an approval that is signed', () => {
  it('opens `gate=signed`, and the record has the signature', async () => {
    writeFileSync(join(home, 'signers'), makeKey('key'))
    configureGit('~/signers')
    const run = await waitingRun()
    expect((await command(`runs approve ${run}`, yes)).error).toMatchObject({
      code: 'approval-too-weak',
      hint: expect.stringContaining(`runs approve ${run} --sign`),
    })
    expect((await command(`runs approve ${run} --sign`, yes)).code).toBe(0)
    expect(project.log()).toEqual(['build', 'deploy'])
    expect(approvalIn(run)).toMatchObject({
      strength: 'signed',
      channel: 'terminal',
      signature: { signer: 'ada@example.com' },
      shownDigest: expect.stringContaining('sha256:'),
    })
  })

  it('is named by every command line, and `runs show` says who signed', async () => {
    writeFileSync(join(home, 'signers'), makeKey('key'))
    configureGit('~/signers')
    skills({ main: { metadata: ['chain: |', '  look', '  deploy gate=signed'] } })
    skills({ look: {}, deploy: log('deploy') })
    await command('chain start main')
    const report = 'chain report latest --step look --status success --result done'
    const reported = await command(report)
    const run = await runIdOf()
    const line = `runs approve ${run} --sign`
    expect([...reported.lines, ...reported.notes].join('\n')).toContain(line)
    const resumed = await command(`runs resume ${run}`)
    expect([...resumed.lines, ...resumed.notes].join('\n')).toContain(line)
    const absent = await command(`runs approve ${run}`)
    expect(absent.error?.message).not.toContain('this terminal')
    expect((await command(line, yes)).code).toBe(0)
    expect((await command(`runs show ${run}`)).lines.join('\n')).toMatch(
      /^deploy: approved by .* at a terminal, signed by ada@example\.com, /m,
    )
  })

  it('is about one run, step, attempt, plan, results and time', async () => {
    writeFileSync(join(home, 'signers'), makeKey('key'))
    configureGit('~/signers')
    const run = await waitingRun()
    await command(`runs approve ${run} --sign`, yes)
    const { at, planDigest, stateDigest, key, signature } = approvalIn(run)
    const env = { HOME: home, PATH: process.env['PATH'] }
    const runtime = systemRuntime({ cwd: project.directory, home, env })
    const place = { runtime, settings: loadConfiguration(runtime).settings }
    const gate = {
      type: 'gate',
      key,
      step: 'deploy',
      attempt: 1,
      at,
      planDigest,
      stateDigest,
    } as const
    const signer = (statement: string) => signerOf(place, statement, signature.text)
    expect(signer(statementOf(run, gate, at))).toBe('ada@example.com')
    for (const other of [
      statementOf('other', gate, at),
      statementOf(run, { ...gate, step: 'build' }, at),
      statementOf(run, { ...gate, attempt: 2 }, at),
      statementOf(run, { ...gate, planDigest: 'x' }, at),
      statementOf(run, { ...gate, stateDigest: 'x' }, at),
      statementOf(run, gate, new Date(0).toISOString()),
    ]) {
      expect(signer(other)).toBeUndefined()
    }
  })

  it.each([
    ['no list of signers', undefined],
    ['a list that does not have the key', 'another'],
    ['a list of the project', 'project'],
    ['a list that has it for other purposes', 'namespaces'],
  ])('is refused with %s', async (_, kind) => {
    const line = makeKey('key', kind === 'namespaces' ? 'a@b namespaces="git"' : undefined)
    const list = join(kind === 'project' ? project.directory : home, 'signers')
    const lines = kind === 'another' ? makeKey('other') : line
    if (kind !== undefined) writeFileSync(list, lines)
    configureGit(list)
    const run = await waitingRun()
    const { error } = await command(`runs approve ${run} --sign`, yes)
    const hint =
      kind === 'project'
        ? `${list}, is in the project, which an agent can change: it counts only if your setting rail.allowedSigners names it`
        : ''
    expect(error).toMatchObject({
      code: 'signer-not-allowed',
      hint: expect.stringContaining(hint),
    })
    expect(project.log()).toEqual(['build'])
  })

  it('takes the key and the list of the settings of the user', async () => {
    writeFileSync(join(project.directory, 'signers'), makeKey('mine'))
    const run = await waitingRun()
    const env = {
      SKILLRAIL_RAIL_SIGNING_KEY: join(home, 'mine'),
      SKILLRAIL_RAIL_ALLOWED_SIGNERS: join(project.directory, 'signers'),
    }
    expect((await command(`runs approve ${run} --sign`, { ...yes, env })).code).toBe(0)
    expect(project.log()).toEqual(['build', 'deploy'])
  })

  it('is refused without a key', async () => {
    const run = await waitingRun()
    expect(await codeOf(`runs approve ${run} --sign`)).toBe('signing-key-missing')
  })

  it('is verified again when the run continues, whatever the journal says', async () => {
    writeFileSync(join(home, 'signers'), makeKey('key'))
    configureGit('~/signers')
    const run = await waitingRun()
    const store = openRunStore(realpathSync(project.directory), placeOf(project))
    const [gate] = store.read(run).gates.values()
    if (!gate) throw new Error('no gate waits')
    const { key, planDigest, stateDigest, at } = gate
    const about = { type: 'approval', key, planDigest, stateDigest, at, by: 'person' }
    const signature = { text: 'SIGNED', signer: 'ada@example.com' }
    const writer = store.open(run)
    writer.append({ ...about, approved: true, strength: 'signed', channel: 'terminal', signature })
    writer.close()
    expect((await command(`runs resume ${run}`)).code).toBe(6)
    expect(project.log()).toEqual(['build'])
  })
})
