import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const repository = new URL('../..', import.meta.url).pathname
let directory: string
let tarball: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-package-'))
  npm(repository, 'pack', '--ignore-scripts', '--pack-destination', directory)
  tarball = join(directory, readdirSync(directory).find((file) => file.endsWith('.tgz')) ?? '')
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  npm(directory, 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)
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
import { Agent, type AgentResult } from 'skillrail/agent'
import { createSkills, type Skills } from 'skillrail/ai'
import { SkillTestHarness } from 'skillrail/testing'
export const manager: SkillManager = new SkillManager()
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
  mkdirSync(join(directory, 'types'), { recursive: true })
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023']
  const { stdout } = spawnSync(
    process.execPath,
    [
      compiler,
      ...options,
      '--types',
      'node',
      '--typeRoots',
      join(repository, 'node_modules/@types'),
      'use.ts',
    ],
    { cwd: directory, encoding: 'utf8' },
  )
  // The AI SDK's own declarations want types that it does not bring along.
  const ours = stdout
    .split('\n')
    .filter((line) => /^(?:use\.ts|node_modules\/skillrail)/.test(line))
  expect(ours).toEqual([])
})

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
