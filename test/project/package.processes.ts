import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pages } from './_pages.ts'

const repository = new URL('../..', import.meta.url).pathname
let directory: string
let tarball: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-package-'))
  npm(repository, 'pack', '--ignore-scripts', '--pack-destination', directory)
  tarball = join(directory, readdirSync(directory).find((file) => file.endsWith('.tgz')) ?? '')
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  npm(directory, 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)
  for (const name of ['ai', 'vitest']) {
    symlinkSync(join(repository, 'node_modules', name), join(directory, 'node_modules', name))
  }
}, 120_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

it('gives a working command in an empty project', () => {
  const { status, stdout } = spawnSync('npx', ['--no-install', 'skillrail', 'list', '--json'], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: join(directory, 'home') },
  })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ skills: [] })
})

it('gives typed imports', () => {
  writeFileSync(
    join(directory, 'use.ts'),
    `import { SkillManager, validateSkill, type Diagnostic } from 'skillrail'
import { Agent, type AgentResult, SubagentManager } from 'skillrail/agent'
import { createSkills, type Skills } from 'skillrail/ai'
import { SkillTestHarness } from 'skillrail/testing'
export const manager: SkillManager = new SkillManager({ customPaths: ['skills'], trustedPaths: ['skills'] })
export const subagents: SubagentManager = new SubagentManager(new Agent({ model: 'none' }), [])
export const findings: readonly Diagnostic[] = validateSkill('', { path: 'x', directoryName: 'x' }).diagnostics
export const skills: Promise<Skills> = createSkills({ skillDirs: ['skills'] })
export const tools: readonly string[] = Object.keys((await skills).settings({}).tools)
export const answer = (agent: Agent): Promise<AgentResult> => agent.run('Go.')
export const harness: typeof SkillTestHarness = SkillTestHarness
// @ts-expect-error: a name that is not exported must not be any
import { noSuchExport } from 'skillrail'
void noSuchExport
`,
  )
  // The AI SDK's own declarations want types that it does not bring along.
  const ours = compile(['--strict', 'use.ts']).filter((line) =>
    /^(?:use\.ts|node_modules\/skillrail)/.test(line),
  )
  expect(ours).toEqual([])
})

it('compiles the documented programs against the declarations of the package', () => {
  const files: string[] = []
  for (const { path, text } of pages) {
    for (const [, language = '', body = ''] of text.matchAll(/^```(js|ts)\n([^]*?)^```$/gm)) {
      if (!body.includes("from 'skillrail")) continue
      const name = `page-${files.length}-${path.replaceAll('/', '-')}.${language}`
      writeFileSync(join(directory, name), body)
      files.push(name)
    }
  }
  expect(files.length).toBeGreaterThan(4)
  const lines = compile(['--allowJs', '--checkJs', '--skipLibCheck', ...files])
  // Parts of programs without types: what counts is that exports, calls and options exist.
  const misuse = /error TS(?:2305|2345|2353|2554|2614|2673|2724): /
  expect(lines.filter((line) => misuse.test(line))).toEqual([])
})

/** Returns the output of the compiler, by lines. */
function compile(options: readonly string[]): string[] {
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const types = ['--types', 'node', '--typeRoots', join(repository, 'node_modules/@types')]
  const target = ['--noEmit', '--module', 'nodenext', '--target', 'es2023']
  const { stdout } = spawnSync(process.execPath, [compiler, ...target, ...types, ...options], {
    cwd: directory,
    encoding: 'utf8',
  })
  return stdout.split('\n')
}

it('passes the package linters', () => {
  const bin = join(repository, 'node_modules/.bin')
  execFileSync(join(bin, 'publint'), [tarball, '--strict'], { cwd: directory, stdio: 'pipe' })
  const profile = [
    '--profile',
    'esm-only',
    '--no-emoji',
    '--exclude-entrypoints',
    'schema/frontmatter.json',
  ]
  execFileSync(join(bin, 'attw'), [tarball, ...profile], { cwd: directory, stdio: 'pipe' })
})

it('ships the intended files and nothing else', () => {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  const top = new Set(files.map((file) => file.split('/').slice(1, 2).join('')))
  expect([...top].toSorted()).toEqual(
    [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
      'plugins',
      'schema',
      'skills',
    ].toSorted(),
  )
})

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, {
    cwd,
    stdio: 'pipe',
    env: { ...process.env, npm_config_loglevel: 'error' },
  })
}
