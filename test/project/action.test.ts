import { spawnSync } from 'node:child_process'
import {
  chmodSync,
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
import { beforeEach, afterEach, describe, expect, it } from 'vitest'
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

/** Executes the steps as a runner does: expressions in `env` and `if`, GITHUB_OUTPUT, GITHUB_PATH. */
function runAction(given: Record<string, string>): JobResult {
  const values = new Map<string, string>()
  for (const [name, input] of Object.entries(action.inputs))
    values.set(`inputs.${name}`, given[name] ?? input.default)
  const evaluated = (text: string): string =>
    text.replaceAll(/\$\{\{ *([\w.-]+) *\}\}/g, (_, key: string) => values.get(key) ?? '')
  const result: JobResult = { code: 0, log: '', outputs: {}, uses: [], summary: '' }
  const paths: string[] = []
  for (const step of action.runs.steps) {
    if (step.if !== undefined && !isTrue(step.if, values)) continue
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
