import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'
import {
  type CheckResult,
  type EditableProof,
  makeRepository,
  type Repository,
} from './_repository.ts'

const hasKeygen = spawnSync('ssh-keygen', ['-Y', 'nothing']).error === undefined

let repository: Repository
/** The commit with the chain, and the one with the work and its proof. */
let base: string
let head: string
let runId: string

beforeAll(async () => {
  repository = makeRepository()
  repository.skills({
    release: { metadata: ['chain: |', '  build', '  test check="test -f src.txt"', '  helped'] },
    build: { run: 'echo built' },
    test: {},
    helped: { run: '. "$SKILLRAIL_SKILL_DIR/lib.sh"' },
  })
  repository.write('.skillrail/skills/helped/lib.sh', 'echo helped\n')
  base = repository.commit()
  repository.write('src.txt', 'work\n')
  repository.commit()
  runId = await repository.drive('release', 'test')
  head = await repository.prove()
})
afterAll(() => repository.remove())

/** A copy for one test, so that each starts with the same repository. */
let copy: string
let directory: string
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'skillrail-proof-'))
  directory = join(copy, 'project')
  cpSync(repository.directory, directory, { recursive: true })
})
afterEach(() => rmSync(copy, { recursive: true, force: true }))

const proofFile = () => join(directory, '.skillrail/proofs', `${runId}.json`)
const all = () => `--base ${base} --chain release --require verified`

function git(...words: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: repository.home }
  return execFileSync('git', words, { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trim()
}

function write(path: string, text: string): void {
  writeFileSync(join(directory, path), text)
}

function commit(): string {
  git('add', '--all')
  git('commit', '--quiet', '-m', 'a change')
  return git('rev-parse', 'HEAD')
}

function edit(change: (proof: EditableProof) => void): void {
  const proof: EditableProof = JSON.parse(readFileSync(proofFile(), 'utf8'))
  change(proof)
  writeFileSync(proofFile(), `${JSON.stringify(proof, undefined, 2)}\n`)
}

async function check(options = all(), sha = 'HEAD', env: Record<string, string> = {}) {
  const words = ['runs', 'check-proof', '--commit', sha, ...options.split(' ').filter(Boolean)]
  const { code, stdout, stderr } = await runInProcess([...words, '--json'], {
    cwd: directory,
    home: repository.home,
    env,
  })
  const { lines }: Partial<CheckResult> = stdout === '' ? {} : JSON.parse(stdout)
  if (!lines) throw new Error(stdout + stderr)
  const failed = lines.filter(({ status }) => status === 'failed').map(({ text }) => text)
  return { code, failed, lines }
}

describe('the check of a proof', () => {
  it('passes for the commit that has the files of the end of the run', async () => {
    const { code, lines } = await check()
    expect(code).toBe(0)
    expect(lines).toEqual([
      { subject: 'run', status: 'passed', text: `run ${runId} of release succeeded` },
      {
        subject: 'tree',
        status: 'passed',
        text: `${head.slice(0, 10)} has the files of the end of the run`,
      },
      { subject: 'chain', status: 'passed', text: `release is the one of ${base}` },
      { subject: 'step', status: 'passed', text: 'steps: 2 exit-code, 1 verified' },
      {
        subject: 'files',
        status: 'passed',
        text: 'build, test, helped: succeeded on the files of the end of the run',
      },
      { subject: 'signature', status: 'unchecked', text: 'it is not signed' },
      { subject: 'rerun', status: 'unchecked', text: 'no check was run again (--rerun)' },
    ])
  })

  it('fails for another commit', async () => {
    write('src.txt', 'more\n')
    commit()
    expect(await check()).toMatchObject({
      code: 1,
      failed: [expect.stringContaining('has other files')],
    })
    expect((await check(all(), 'nothing')).failed).toContain(
      'there is no commit nothing in this repository',
    )
  })

  it('fails for files that nobody has committed since the run, and names them', async () => {
    const other = makeRepository()
    try {
      other.skills({
        ship: { metadata: ['chain: |', '  look check="test -f draft.txt"'] },
        look: {},
      })
      other.commit()
      other.write('draft.txt', 'x')
      await other.drive('ship', 'look')
      rmSync(join(other.directory, 'draft.txt'))
      await other.prove()
      const { code, failed } = await other.check('--commit HEAD')
      expect({ code, failed }).toEqual({
        code: 1,
        failed: [
          expect.stringMatching(
            /has other files .* not committed at the end of the run: draft\.txt$/,
          ),
        ],
      })
    } finally {
      other.remove()
    }
  })

  it('fails for a chain that differs from the one of the base', async () => {
    const path = '.skillrail/skills/release/SKILL.md'
    write(path, readFileSync(join(directory, path), 'utf8').replace('    helped\n', ''))
    const changed = commit()
    const { failed } = await check(`--base ${changed}`, head)
    expect(failed).toEqual([
      `the run executed another release than ${changed} has`,
      `.skillrail/skills/release/SKILL.md of the chain differs from ${changed}`,
      `helped is not a step of ${changed}`,
    ])
    expect((await check(`--base ${base}~0 --chain other`, head)).failed).toEqual([
      'the proof is about release (.skillrail/skills/release), not about other',
    ])
    expect((await check('--base nothing', head)).failed).toEqual([
      'there is no commit nothing to compare with',
    ])
  })

  it('fails for a file beside a script that differs from the base', async () => {
    write('.skillrail/skills/helped/lib.sh', 'echo other\n')
    const changed = commit()
    expect((await check(`--base ${changed}`, head)).failed).toEqual([
      `.skillrail/skills/helped/lib.sh of the chain differs from ${changed}`,
    ])
  })

  type ProofFault = [fault: string, change: (proof: EditableProof) => void, line: string]
  it.each<ProofFault>([
    [
      'a replaced step',
      ({ predicate: { steps } }) =>
        Object.assign(steps[0] ?? {}, { digest: `sha256:${'0'.repeat(64)}` }),
      'build is not the one of',
    ],
    ['a step that is missing', ({ predicate: { steps } }) => steps.splice(1, 1), 'test of'],
    [
      'a step that occurs twice',
      ({ predicate: { steps } }) => steps.push({ ...steps[0] }),
      'build occurs twice',
    ],
    [
      'a step of its own',
      ({ predicate: { steps } }) => steps.push({ ...steps[0], step: 'more' }),
      'more is not a step of',
    ],
    [
      'a step that was left out',
      ({ predicate: { steps } }) => Object.assign(steps[1] ?? {}, { excluded: true }),
      'test was left out of the run',
    ],
    [
      'a step without evidence',
      ({ predicate: { steps } }) => Object.assign(steps[1] ?? {}, { evidence: null }),
      'test succeeded without evidence',
    ],
    [
      'a step that is only reported',
      ({ predicate: { steps } }) => Object.assign(steps[1] ?? {}, { evidence: 'self-reported' }),
      'test is only reported by the agent',
    ],
    ...['skipped', 'not_run', 'cancelled'].map((status): ProofFault => [
      `a step with the status ${status} that no condition explains`,
      ({ predicate: { steps } }) => Object.assign(steps[1] ?? {}, { status, evidence: null }),
      `test has the status ${status}, and no condition allows that`,
    ]),
    [
      'a result from another run',
      ({ predicate: { steps } }) => Object.assign(steps[1] ?? {}, { reused: true }),
      'test has its result from another run',
    ],
    [
      'evidence that the step cannot have',
      ({ predicate: { steps } }) => Object.assign(steps[0] ?? {}, { evidence: 'verified' }),
      'build is said to be verified',
    ],
    [
      'a run that failed',
      ({ predicate: { run } }) => Object.assign(run, { status: 'failure' }),
      'ended as failure',
    ],
    [
      'a chain that was changed during the run',
      ({ predicate: { run } }) => Object.assign(run, { chainChanged: true }),
      'the chain was changed during',
    ],
    [
      'two trees',
      ({ predicate: { repository: tree } }) => Object.assign(tree, { tree: 'a'.repeat(40) }),
      'the proof names two trees',
    ],
    [
      'a chain outside of the repository',
      ({ predicate: { chain } }) => Object.assign(chain, { directory: '../release' }),
      'has no chain in ../release',
    ],
  ])('fails for %s', async (_, change, line) => {
    edit(change)
    const { code, failed } = await check()
    expect(code).toBe(1)
    expect(failed.join('\n')).toContain(line)
  })

  it('fails for a proof of another repository with the same files', async () => {
    rmSync(join(directory, '.git'), { recursive: true })
    git('init', '--quiet', '-b', 'main')
    git('config', 'user.email', 'ada@example.com')
    git('config', 'user.name', 'Ada')
    commit()
    expect((await check('')).failed).toEqual([expect.stringContaining('does not contain')])
  })
})

describe('the file of a proof', () => {
  const failure = async (): Promise<string> => (await check('')).failed.join('\n')

  it.each<[string, (text: string) => string, string]>([
    ['is cut off', (text) => text.slice(0, -20), 'is not JSON, or was cut off'],
    ['is empty', () => '', 'is not JSON'],
    [
      'has a key twice',
      (text) => text.replace('"mode":', '"status": "success",\n      "mode":'),
      'has a key twice',
    ],
    [
      'has the version of a later Skillrail',
      (text) => text.replace('/proof/v1', '/proof/v2'),
      'predicateType',
    ],
    [
      'has a member that is unknown',
      (text) => text.replace('"mode":', '"more": 1,\n      "mode":'),
      'predicate.run',
    ],
    [
      'reaches a prototype',
      (text) => text.replace('"mode":', '"__proto__": {},\n      "mode":'),
      'predicate.run',
    ],
    [
      'has another type',
      (text) => text.replace('"chainChanged": false', '"chainChanged": "false"'),
      'chainChanged',
    ],
    ['is nested without an end', () => '['.repeat(100_000), 'nested too deeply'],
  ])('fails if it %s', async (_, change, message) => {
    writeFileSync(proofFile(), change(readFileSync(proofFile(), 'utf8')))
    expect(await failure()).toContain(message)
  })

  it('fails with 100 MB, before it is read', async () => {
    truncateSync(proofFile(), 100_000_000)
    expect(await failure()).toContain('is 100000000 bytes; the limit is 4194304 bytes')
  })

  it('fails if it is missing or no file', async () => {
    rmSync(proofFile())
    expect(await failure()).toBe('there is no proof in .skillrail/proofs')
    expect((await check('none.json')).failed.join()).toContain('does not exist')
    expect((await check('.skillrail')).failed.join()).toContain('a directory')
  })

  it('may be formatted by another program', async () => {
    const text = readFileSync(proofFile(), 'utf8')
    writeFileSync(proofFile(), JSON.stringify(JSON.parse(text), undefined, '\t'))
    expect((await check()).code).toBe(0)
  })

  it('never passes with any member replaced by another value', async () => {
    const text = readFileSync(proofFile(), 'utf8')
    const places = placesIn(JSON.parse(text))
    // These are for readers: nothing in the repository says what they should be.
    const free =
      /\.(?:steps\.\d+\.tree|user|arguments|startedAt|endedAt|durationMs|output|versions|uncommitted|requireVerified|mode|id|plan|paths|count|skillrail|client|checkFilesChanged|allowFailure|digest)\b/
    const values = fc.constantFrom<unknown>(null, '', 'x', 1, -1, true, [], {}, ['x'])
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), values, async (place, value) => {
        const proof: unknown = JSON.parse(text)
        if (!replaceAt(proof, place, value)) return
        writeFileSync(proofFile(), JSON.stringify(proof))
        const { code, failed } = await check()
        const isFree = free.test(`.${place.join('.')}`)
        expect({ place, failed, isRefused: code === 1 || (isFree && code === 0) }).toMatchObject({
          isRefused: true,
        })
      }),
      { seed: 32, numRuns: 15 },
    )
  })
})

/** The ways to every member of a value. */
function placesIn(value: unknown, way: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...way]]
  return Object.entries(value).flatMap(([name, member]) => [
    [...way, name],
    ...placesIn(member, [...way, name]),
  ])
}

/** Returns whether the value is another one now. */
function replaceAt(root: unknown, way: readonly string[], value: unknown): boolean {
  const [name = '', ...rest] = way
  const owner = Object(root)
  if (rest.length > 0) return replaceAt(owner[name], rest, value)
  if (JSON.stringify(owner[name]) === JSON.stringify(value)) return false
  owner[name] = value
  return true
}

describe('checks that are run again', () => {
  const trusted = { SKILLRAIL_WORKSPACE_TRUST: 'trusted' }

  it('are those of the base, in the working tree', async () => {
    const { code, lines } = await check(`${all()} --rerun`, head, trusted)
    expect({ code, last: lines.slice(-2) }).toEqual({
      code: 0,
      last: [
        { subject: 'rerun', status: 'passed', text: 'test: test -f src.txt passed again' },
        {
          subject: 'rerun',
          status: 'unchecked',
          text: 'build, helped: not run again, because only checks are',
        },
      ],
    })
  })

  it('do not run for an untrusted project, in another tree, or after another failure', async () => {
    const untrusted = await check(`${all()} --rerun`)
    expect(untrusted).toMatchObject({
      code: 1,
      failed: [expect.stringMatching(/was never trusted\. To see/)],
    })
    write('more.txt', 'x')
    const other = await check(`${all()} --rerun`, head, trusted)
    expect(other.failed).toEqual([expect.stringContaining('Changed: more.txt')])
    const failed = await check('--base main --chain other --rerun', head, trusted)
    expect(failed.lines.at(-1)).toEqual({
      subject: 'rerun',
      status: 'unchecked',
      text: 'no check was run again, because other lines failed',
    })
    await expect(check('--rerun')).rejects.toThrow('--base')
  })

  it('fail the proof of a run whose check passed by something that is not committed', async () => {
    const other = makeRepository()
    try {
      other.write('.gitignore', 'local\n')
      other.skills({
        ship: { metadata: ['chain: |', '  look check="test -f local"'] },
        look: {},
      })
      other.write('local', 'x')
      other.commit()
      await other.drive('ship', 'look')
      await other.prove()
      const again = '--commit HEAD --base HEAD~1 --rerun'
      expect((await other.check(again)).code).toBe(0)
      rmSync(join(other.directory, 'local'))
      expect(await other.check(again)).toMatchObject({
        code: 1,
        failed: ['look: the check `test -f local` ended with exit code 1'],
      })
    } finally {
      other.remove()
    }
  })
})

describe('approvals in a proof', () => {
  let gated: Repository
  let approved: string
  beforeAll(async () => {
    gated = makeRepository()
    gated.skills({
      deploy: { metadata: ['chain: |', '  build', '  publish gate'] },
      build: { run: 'echo built' },
      publish: { run: 'echo published' },
    })
    gated.commit()
    await gated.run('run deploy --yes-gates')
    approved = await gated.prove()
  })
  afterAll(() => gated.remove())

  const checked = (options = '') =>
    gated.check(`--commit ${approved} --base ${approved}~1${options}`)

  it('need the strength that the gate and the question ask for', async () => {
    expect(await checked()).toMatchObject({
      code: 1,
      failed: ['publish needs an approval that is prompted; it has: option, unknown'],
    })
    expect((await checked(' --approval unknown')).code).toBe(0)
    for (const strength of ['prompted', 'attended', 'signed']) {
      gated.edit(({ predicate: { approvals } }) =>
        Object.assign(approvals[0] ?? {}, { strength: 'prompted' }),
      )
      const { code } = await checked(` --approval ${strength}`)
      expect([strength, code]).toEqual([strength, strength === 'prompted' ? 0 : 1])
    }
  })

  it('belong to the run, its chain and a signature', async () => {
    const failed = async (change: Record<string, unknown>): Promise<string> => {
      gated.edit(({ predicate: { approvals } }) => Object.assign(approvals[0] ?? {}, change))
      return (await checked()).failed.join('\n')
    }
    const run = String(JSON.parse(readFileSync(newestProof(gated), 'utf8')).predicate.run.id)
    expect(await failed({ strength: 'attended' })).toBe('')
    expect(await failed({ run: '0other' })).toContain('belongs to the run 0other')
    expect(await failed({ run, plan: `sha256:${'0'.repeat(64)}` })).toContain(
      'is about another chain',
    )
    expect(await failed({ strength: 'signed' })).toContain('is about another chain')
    expect(await failed({ approved: false })).toBe('nobody approved publish')
  })

  it('are missing where no step has a gate', async () => {
    expect((await check('--approval prompted')).failed).toEqual([
      'no step has a gate, so nobody approved anything',
    ])
  })
})

describe('the files on which steps succeeded', () => {
  let changed: Repository
  beforeEach(() => {
    changed = makeRepository()
    changed.skills({
      ship: { metadata: ['chain: |', '  lint', '  look check="true"', '  publish gate'] },
      lint: { run: 'test "$(cat index.js)" = whole' },
      look: {},
      publish: { run: 'echo published' },
    })
    changed.write('index.js', 'whole\n')
    changed.commit()
  })
  afterEach(() => changed.remove())

  async function proven(isBroken: boolean): Promise<{ question: string; shown: string }> {
    await changed.command('chain start ship')
    const report = 'chain report latest --step look --status success --result done'
    expect((await changed.command(report)).code).toBe(6)
    if (isBroken) {
      changed.write('index.js', 'broken\n')
      changed.commit()
    }
    let asked = ''
    const { code, notes } = await changed.command('runs approve latest', {
      answer: 'y',
      onQuestion: (text) => void (asked += text),
    })
    const id = changed.git('rev-parse', '--short', 'HEAD')
    expect(asked).toContain(`Approve publish of ship (commit ${id}, run `)
    expect(code).toBe(0)
    await changed.prove()
    const question = '--commit HEAD --base HEAD~1 --approval unknown --require verified'
    return { question, shown: notes.join('\n') }
  }

  const filesLines = ({ lines }: CheckResult) => lines.filter(({ subject }) => subject === 'files')
  const trusted = { env: { SKILLRAIL_WORKSPACE_TRUST: 'trusted' } }

  it('are compared with those of the end, and the approval says which steps have not seen them', async () => {
    const { question, shown } = await proven(true)
    expect(shown).toContain('FILES CHANGED since these steps ran: lint, look')
    const warned = await changed.check(question)
    expect(warned.code).toBe(0)
    expect(filesLines(warned)).toEqual([
      {
        subject: 'files',
        status: 'unchecked',
        text: 'lint, look: succeeded on other files than the end of the run has',
      },
    ])
    const strict = await changed.check(`${question} --same-files`)
    expect(strict).toMatchObject({ code: 1, failed: [expect.stringContaining('lint, look: ')] })
    // A check that runs again sees the last files; a script does not run again.
    const again = await changed.check(`${question} --rerun`, trusted)
    expect(again.code).toBe(0)
    expect(filesLines(again)).toMatchObject([{ text: expect.stringMatching(/^lint: succ/) }])
    expect(again.lines.at(-1)).toEqual({
      subject: 'rerun',
      status: 'unchecked',
      text: 'lint, publish: not run again, because only checks are',
    })
    const both = await changed.check(`${question} --rerun --same-files`, trusted)
    expect(both).toMatchObject({ code: 1, failed: [expect.stringMatching(/^lint: succ/)] })
  })

  it('pass without a change, and are not known to a proof that lacks them', async () => {
    const { question, shown } = await proven(false)
    expect(shown).not.toContain('FILES CHANGED')
    const same = await changed.check(`${question} --same-files`)
    expect({ code: same.code, lines: filesLines(same) }).toMatchObject({
      code: 0,
      lines: [{ status: 'passed', text: expect.stringContaining('lint, look, publish: ') }],
    })
    changed.edit(({ predicate: { steps } }) => {
      for (const step of steps) delete step['tree']
    })
    const unknown = await changed.check(`${question} --same-files`)
    expect(unknown.failed).toEqual([
      expect.stringContaining('succeeded on files that were not recorded'),
    ])
  })
})

function newestProof({ directory: place, git: ask }: Repository): string {
  return join(place, ask('ls-files', '.skillrail/proofs/*.json'))
}

describe.skipIf(!hasKeygen)('signatures of proofs', () => {
  let signed: Repository
  let keys: string
  beforeAll(async () => {
    signed = makeRepository()
    keys = signed.home
    for (const name of ['ada', 'eve']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, name)])
    }
    const line = (name: string) =>
      `${name}@example.com ${readFileSync(join(keys, `${name}.pub`), 'utf8')}`
    signed.write('.github/signers', line('ada'))
    writeFileSync(join(keys, 'outside'), line('ada'))
    writeFileSync(join(keys, 'others'), line('eve'))
    const lines = ['[user]', `signingKey = ${keys}/ada.pub`, '[gpg]', 'format = ssh', '[gpg "ssh"]']
    writeFileSync(
      join(keys, '.gitconfig'),
      [...lines, `allowedSignersFile = ${keys}/outside`, ''].join('\n'),
    )
    signed.skills({
      deploy: { metadata: ['chain: |', '  build', '  publish gate=signed'] },
      build: { run: 'echo built' },
      publish: { run: 'echo published' },
    })
    signed.commit()
    const run = await signed.run('run deploy', 6)
    const answer = await signed.command(`runs approve ${run} --sign`, { answer: 'y' })
    if (answer.code !== 0) throw answer.error ?? new Error('not approved')
    await signed.prove()
  })
  afterAll(() => signed.remove())

  const checked = (options: string) => signed.check(`--commit main --base main~1${options}`)

  it('are verified with the list that the question names, of the base', async () => {
    const inside = await checked(' --allowed-signers .github/signers --approval signed')
    expect(inside).toMatchObject({ code: 0, failed: [] })
    expect(inside.lines.map(({ text }) => text)).toContain('signed by ada@example.com')
    expect((await checked(` --allowed-signers ${keys}/outside`)).code).toBe(0)
    expect((await checked(` --allowed-signers ${keys}/missing`)).failed.join()).toContain(
      'is missing',
    )
    expect((await checked(' --allowed-signers more/signers')).failed.join()).toContain(
      'main~1 has no more/signers',
    )
    await expect(signed.check('--commit main --allowed-signers .github/signers')).rejects.toThrow(
      '--base',
    )
  })

  it('fail with an unknown key, for the proof and for the approval', async () => {
    const { failed } = await checked(` --allowed-signers ${keys}/others`)
    expect(failed).toHaveLength(2)
    for (const line of failed) expect(line).toContain('is not in the list of allowed signers')
    signed.write('.github/signers', readFileSync(join(keys, 'others'), 'utf8'))
    expect((await checked(' --allowed-signers .github/signers')).code).toBe(0)
  })

  it('fail with a changed proof, and with an approval from another run', async () => {
    const text = readFileSync(newestProof(signed), 'utf8')
    signed.edit(({ predicate: { run } }) => Object.assign(run, { user: 'eve' }))
    expect((await checked('')).failed).toEqual(['the signature is of another text'])
    signed.edit(({ predicate: { run, approvals } }) => {
      Object.assign(run, { id: '0other' })
      Object.assign(approvals[0] ?? {}, { run: '0other' })
    })
    const { failed } = await checked('')
    expect(failed.join('\n')).toContain(
      'publish needs an approval that is signed; it has: terminal, unknown: the signature is of another text',
    )
    writeFileSync(newestProof(signed), text)
  })

  it('are required where a list is named, and are left out with --no-sign', async () => {
    const signature = `${newestProof(signed)}.sig`
    const text = readFileSync(signature)
    await signed.command('runs proof latest --no-sign')
    expect((await checked(' --allowed-signers .github/signers')).failed).toEqual([
      'it is not signed',
    ])
    writeFileSync(signature, 'x'.repeat(70_000))
    expect((await checked('')).failed.join()).toContain('the limit is 65536 bytes')
    writeFileSync(signature, text)
    chmodSync(signature, 0o644)
  })
})
