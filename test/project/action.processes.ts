import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bin } from '../command-line.ts'

const repository = new URL('../..', import.meta.url).pathname
const read = (path: string): unknown => load(readFileSync(join(repository, path), 'utf8'))

const action = z
  .object({
    inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string() })),
    outputs: z.record(z.string(), z.object({ value: z.string() })),
    runs: z.object({
      using: z.literal('composite'),
      steps: z.array(
        z.object({
          id: z.string().optional(),
          if: z.string().optional(),
          uses: z.string().optional(),
          run: z.string().optional(),
          shell: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  })
  .parse(read('action.yml'))

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-action-'))
  write(
    'checkout/node_modules/.bin/skillrail',
    `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`,
    0o755,
  )
  skill('hello', 'echo "hello $1"')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string, mode = 0o644): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}

function skill(name: string, script: string, description = 'Greets. Use when greeted.'): void {
  const folder = `checkout/.agents/skills/${name}`
  write(`${folder}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\nGreet.\n`)
  write(`${folder}/scripts/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
}

interface JobResult {
  code: number
  log: string
  outputs: Record<string, string>
  uses: string[]
  summary: string
}

/** The part of the payload of a pull request that the action reads. */
interface PullRequestEvent {
  pull_request: { head: { sha: string }; base: { sha: string } }
}

/** Executes the steps as a runner does: expressions in `env` and `if`, GITHUB_OUTPUT, GITHUB_PATH. */
function runAction(
  given: Record<string, string>,
  event?: PullRequestEvent,
  without: readonly string[] = [],
): JobResult {
  const values = new Map<string, string>()
  for (const [key, value] of event ? membersOf(event, 'github.event') : []) values.set(key, value)
  for (const [name, input] of Object.entries(action.inputs))
    values.set(`inputs.${name}`, given[name] ?? input.default)
  const evaluated = (text: string): string =>
    text.replaceAll(/\$\{\{ *([\w.-]+) *\}\}/g, (_, key: string) => values.get(key) ?? '')
  write('event.json', JSON.stringify(event ?? {}))
  rmSync(join(root, 'summary'), { force: true })
  const result: JobResult = { code: 0, log: '', outputs: {}, uses: [], summary: '' }
  const paths: string[] = []
  for (const step of action.runs.steps) {
    if (step.if !== undefined && !isTrue(step.if, values)) continue
    if (without.includes(step.id ?? '')) continue
    if (step.uses !== undefined) result.uses.push(step.uses)
    if (step.run === undefined) continue
    const files = {
      output: join(root, 'output'),
      path: join(root, 'path'),
      summary: join(root, 'summary'),
    }
    write('output', '')
    write('path', '')
    const env = Object.entries(step.env ?? {}).map(([name, text]) => [name, evaluated(text)])
    const { status, stdout, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
      cwd: join(root, 'checkout'),
      encoding: 'utf8',
      env: {
        ...Object.fromEntries(env),
        PATH: [...paths, process.env['PATH']].join(delimiter),
        HOME: join(root, 'home'),
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_EVENT_NAME: event ? 'pull_request' : 'push',
        GITHUB_EVENT_PATH: join(root, 'event.json'),
        GITHUB_WORKSPACE: join(root, 'checkout'),
        GITHUB_OUTPUT: files.output,
        GITHUB_PATH: files.path,
        GITHUB_STEP_SUMMARY: files.summary,
        RUNNER_TEMP: join(root, 'temp'),
      },
    })
    result.log += stdout + stderr
    for (const line of readFileSync(files.output, 'utf8').split('\n').filter(Boolean)) {
      values.set(
        `steps.${step.id}.outputs.${line.split('=')[0]}`,
        line.slice(line.indexOf('=') + 1),
      )
    }
    paths.unshift(...readFileSync(files.path, 'utf8').split('\n').filter(Boolean))
    if (existsSync(files.summary)) result.summary = readFileSync(files.summary, 'utf8')
    result.code = status ?? 1
    if (result.code !== 0) break
  }
  for (const [name, { value }] of Object.entries(action.outputs))
    result.outputs[name] = evaluated(value)
  return result
}

/** The texts of a payload by the expression that reads them. */
function membersOf(value: unknown, prefix: string): [string, string][] {
  if (typeof value === 'string') return [[prefix, value]]
  return Object.entries(Object(value)).flatMap(([name, member]) =>
    membersOf(member, `${prefix}.${name}`),
  )
}

/** The two forms that the action uses: `a == 'b'` and `a != 'b'`. */
function isTrue(condition: string, values: ReadonlyMap<string, string>): boolean {
  const [, key = '', operator, expected] = /^([\w.-]+) (==|!=) '([^']*)'$/.exec(condition) ?? []
  if (operator === undefined) throw new Error(`the test cannot evaluate ${condition}`)
  return (values.get(key) === expected) === (operator === '==')
}

const report = (name: string): string =>
  readFileSync(join(root, 'checkout/skillrail-reports', name), 'utf8')

describe('the GitHub Action', () => {
  it('validates, audits and runs a chain, and writes the reports', () => {
    const job = runAction({ version: 'installed', chain: 'hello', arguments: 'reader' })
    expect(job).toMatchObject({ code: 0, outputs: { valid: 'true', run: '0' }, uses: [] })
    expect(JSON.parse(report('validate.sarif'))).toMatchObject({ version: '2.1.0' })
    expect(JSON.parse(report('audit.sarif'))).toMatchObject({ version: '2.1.0' })
    expect(report('chain.xml')).toContain('<testsuite')
    expect(job.summary).toContain('hello')
  })

  it('fails for an invalid skill, with an annotation and a result for code scanning', () => {
    skill('Bad', 'exit 0')
    const job = runAction({ version: 'installed', upload: 'true' })
    expect(job).toMatchObject({ code: 1, outputs: { valid: 'false' } })
    expect(job.log).toContain('::error file=.agents/skills/Bad/SKILL.md,line=2')
    expect(job.log).toContain('validate ended with exit code 1')
    expect(report('validate.sarif')).toContain('name-uppercase')
    expect(job.uses).toEqual(['github/codeql-action/upload-sarif@v3'])
  })

  it('fails for a failed chain, after everything else', () => {
    skill('hello', 'exit 3')
    const job = runAction({ version: 'installed', chain: 'hello', audit: 'false' })
    expect(job).toMatchObject({ code: 1, outputs: { valid: 'true', run: '1' } })
    expect(job.log).toContain('chain ended with exit code 1')
    expect(existsSync(join(root, 'checkout/skillrail-reports/audit.sarif'))).toBe(false)
  })

  it('takes inputs as data', () => {
    const job = runAction({
      version: 'installed',
      chain: '$(touch pwned); hello',
      arguments: '`touch pwned`',
    })
    expect(job.outputs['run']).toBe('3')
    expect(existsSync(join(root, 'checkout/pwned'))).toBe(false)
  })

  it('puts no expression into a script', () => {
    for (const { run = '' } of action.runs.steps) expect(run).not.toContain('${{')
  })
})

describe('the GitHub Action on a pull request that needs a proof', () => {
  const inputs = { version: 'installed', audit: 'false', proof: 'true', 'proof-chain': 'ship-it' }
  let event: PullRequestEvent
  let prepared: string
  let commits: { head: string; base: string }

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'skillrail-action-'))
    prepared = root
    const text = (name: string, more = '') =>
      `---\nname: ${name}\ndescription: Ships. Use to ship.\n${more}---\nShip.\n`
    const chain = 'metadata:\n  chain: |\n    implement check="test -f node_modules/tool"\n'
    write('checkout/.agents/skills/ship-it/SKILL.md', text('ship-it', chain))
    write('checkout/.agents/skills/implement/SKILL.md', text('implement'))
    write('checkout/.gitignore', 'node_modules\n')
    write('checkout/node_modules/tool', '')
    write('home/.gitconfig', '[user]\nname = Ada\nemail = ada@example.com\n')
    git('init', '--quiet', '-b', 'main')
    const base = commit()
    write('checkout/work.txt', 'work\n')
    skillrail('chain', 'start', 'ship-it')
    const report = ['--step', 'implement', '--status', 'success', '--result', 'done']
    skillrail('chain', 'report', 'latest', ...report)
    commit()
    skillrail('runs', 'proof')
    commits = { head: commit(), base }
  })
  afterAll(() => rmSync(prepared, { recursive: true, force: true }))

  beforeEach(() => {
    cpSync(prepared, root, { recursive: true })
    rmSync(join(root, 'checkout/.agents/skills/hello'), { recursive: true })
    const { head, base } = commits
    event = { pull_request: { head: { sha: head }, base: { sha: base } } }
  })

  /** The validation has tests of its own. */
  const runProof = (given: Record<string, string>, payload?: PullRequestEvent): JobResult =>
    runAction(given, payload, ['validate'])

  function git(...words: string[]): string {
    const { status, stdout, stderr } = spawnSync('git', words, {
      cwd: join(root, 'checkout'),
      env: { PATH: process.env['PATH'], HOME: join(root, 'home') },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
    return stdout.trim()
  }

  function commit(): string {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'a change')
    return git('rev-parse', 'HEAD')
  }

  function skillrail(...words: string[]): void {
    const { status, stderr } = spawnSync(process.execPath, [bin, ...words, '--trust-workspace'], {
      cwd: join(root, 'checkout'),
      env: { PATH: process.env['PATH'], HOME: join(root, 'home') },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
  }

  it('passes, with a summary that begins with the verdict', () => {
    const job = runProof(inputs, event)
    expect(job).toMatchObject({ code: 0, outputs: { proof: '0' } })
    const [title, , ...lines] = job.summary.split('\n')
    expect(title).toBe(
      `## ship-it: proof ✅ passed for ${event.pull_request.head.sha.slice(0, 10)}`,
    )
    expect(lines).toContain('- ✅ implement&#58; test -f node&#95;modules/tool passed again')
    expect(lines).toContainEqual(
      expect.stringMatching(/^\| implement \| success \| verified \| test -f /),
    )
  })

  it('fails for work after the run, with the failed line first', () => {
    write('checkout/work.txt', 'more\n')
    event.pull_request.head.sha = commit()
    const job = runProof(inputs, event)
    expect(job).toMatchObject({ code: 1, outputs: { proof: '1' } })
    expect(job.summary.split('\n')[2]).toMatch(/^- ❌ \w+ has other files/)
    expect(job.log).toContain('proof ended with exit code 1')
  })

  it('fails where the check does not pass again, and believes the proof if it is told to', () => {
    rmSync(join(root, 'checkout/node_modules/tool'))
    expect(runProof(inputs, event)).toMatchObject({ code: 1, outputs: { proof: '1' } })
    expect(runProof({ ...inputs, 'proof-rerun': 'false' }, event).code).toBe(0)
  })

  it.each([
    ['true', true],
    ['True', true],
    ['false', false],
  ])(
    'requires the files at the end of the run if proof-same-files is %s: %s',
    (given, expected) => {
      const program = 'checkout/node_modules/.bin/skillrail'
      rmSync(join(root, program), { force: true })
      write(program, '#!/bin/sh\necho "called: $*"\n', 0o755)
      const { log } = runProof({ ...inputs, 'proof-same-files': given }, event)
      expect(log).toContain('called: runs check-proof')
      expect(log.includes('--same-files')).toBe(expected)
    },
  )

  it('fails without a pull request or the name of a chain', () => {
    expect(runProof(inputs)).toMatchObject({ code: 1, outputs: { proof: '2' } })
    expect(runProof({ ...inputs, 'proof-chain': '' }, event).outputs['proof']).toBe('2')
  })

  it('fails without a proof', () => {
    event.pull_request.head.sha = event.pull_request.base.sha
    git('checkout', '--quiet', event.pull_request.base.sha)
    const job = runProof(inputs, event)
    expect(job).toMatchObject({ code: 1, outputs: { proof: '1' } })
    expect(job.summary).toContain('there is no proof in')
  })

  it('passes with the workflow of the page about proofs', () => {
    const page = readFileSync(join(repository, 'docs/proof.md'), 'utf8')
    const [, text = ''] = /```yaml\n(name: proof\n[^`]*)```/.exec(page) ?? []
    const { jobs } = z
      .object({ jobs: z.object({ proof: z.object({ steps: z.array(workflowStep) }) }) })
      .parse(load(text))
    const used = jobs.proof.steps.find(({ uses = '' }) => uses.startsWith('skillrail/'))?.with ?? {}
    expect(Object.keys(used).filter((name) => !Object.hasOwn(action.inputs, name))).toEqual([])
    expect(runProof({ ...used, version: 'installed' }, event).code).toBe(0)
    expect(text).toContain('ref: ${{ github.event.pull_request.head.sha }}')
  })
})

const workflowStep = z.object({
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown().transform(String)).optional(),
})

it('checks the files that pre-commit passes to its hooks', () => {
  const hooks = z
    .array(
      z.object({
        id: z.string(),
        entry: z.string(),
        files: z.string(),
        language: z.literal('node'),
      }),
    )
    .parse(read('.pre-commit-hooks.yaml'))
  const [validate, audit] = hooks
  expect(validate?.files).toBe(audit?.files)
  const path = '.agents/skills/hello/SKILL.md'
  expect(new RegExp(validate?.files ?? '').test(path)).toBe(true)
  const call = (entry = '', ...more: string[]) =>
    spawnSync(process.execPath, [bin, ...entry.split(' ').slice(1), ...more], {
      cwd: join(root, 'checkout'),
    }).status
  expect(call(validate?.entry, path)).toBe(0)
  expect(call(audit?.entry)).toBe(0)
  skill('hello', 'exit 0', '""')
  expect(call(validate?.entry, path)).toBe(1)
})
