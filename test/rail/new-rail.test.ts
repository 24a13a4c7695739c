import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { committedCheck } from '../../src/rail/new-rail.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'
import { makeSession } from './_session.ts'

type Files = Readonly<Record<string, string>>

interface Place {
  project: string
  home: string
  write(path: string, text: string): void
  git(...words: readonly string[]): string
  run(...args: readonly string[]): Promise<CliResult>
}

/** A project, a repository unless said otherwise, on a machine with these clients. */
function place(files: Files, { clients = ['.claude'], isRepository = true } = {}): Place {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-new-rail-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }))
  const [project, home] = [join(base, 'project'), join(base, 'home')]
  const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
  mkdirSync(project)
  for (const folder of ['bin', ...clients]) mkdirSync(join(home, folder), { recursive: true })
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const git = (...words: readonly string[]): string => {
    const author = ['-c', 'user.name=One', '-c', 'user.email=one@example.com']
    return execFileSync('git', [...author, ...words], { cwd: project, env, encoding: 'utf8' })
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  if (isRepository) git('init', '-q', '-b', 'main')
  // The machine may have further clients on its path.
  const run = (...args: readonly string[]): Promise<CliResult> =>
    runInProcess(args, { cwd: project, home, env: { PATH: join(home, 'bin') } })
  return { project, home, write, git, run }
}

const npmInit = '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }'

/** Repositories of several kinds, with the check that each gets. */
const kinds: readonly (readonly [kind: string, files: Files, check: string])[] = [
  ['a test script', { 'package.json': '{ "scripts": { "test": "node --test" } }' }, 'npm test'],
  ['the test script of npm init', { 'package.json': npmInit }, committedCheck],
  ['an invalid package.json', { 'package.json': '{ "scripts": ' }, committedCheck],
  ['a makefile with a test', { Makefile: 'all:\n\ttrue\ntest: all\n\ttrue\n' }, 'make test'],
  ['a makefile with a variable', { Makefile: 'test := 1\nall:\n\ttrue\n' }, committedCheck],
  ['a Cargo.toml', { 'Cargo.toml': '[package]\nname = "one"\n' }, committedCheck],
  ['a go.mod', { 'go.mod': 'module one\n' }, committedCheck],
  ['a pyproject.toml', { 'pyproject.toml': '[project]\nname = "one"\n' }, committedCheck],
  ['nothing', {}, committedCheck],
]

/** `hooks install` copies a file that the build makes. */
const isBuilt = existsSync(join(import.meta.dirname, '../../dist/hook/hook.cjs'))

describe.each(kinds)('new --rail in a repository with %s', (_, files, check) => {
  it('writes a chain that validates, can be trusted, has a plan, and whose check can succeed', async () => {
    const { run, git, project } = place(files)
    const { code, stdout } = await run('new', '--rail', 'release', '--json')
    expect([code, JSON.parse(stdout).check]).toEqual([0, check])
    const lines = [['validate'], ['trust', '--yes']]
    if (isBuilt) lines.push(['hooks', 'install', 'claude'], ['chain', 'plan', 'release'])
    for (const line of lines) {
      const { code: one, stderr } = await run(...line)
      expect([line, one, stderr]).toEqual([line, 0, expect.not.stringMatching(/error|warning/)])
    }
    git('add', '.')
    git('commit', '-q', '-m', 'First')
    expect(spawnSync('sh', ['-c', check], { cwd: project }).status).toBe(0)
  })
})

it('has a default check that fails while something is not committed, and says what', async () => {
  const { git, write, project } = place({ VERSION: '1\n' })
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  write('VERSION', '2\n')
  const { status, stdout } = spawnSync('sh', ['-c', committedCheck], { cwd: project })
  expect([status, String(stdout)]).toEqual([1, expect.stringContaining('VERSION')])
})

it('says in an empty folder that a repository is needed', async () => {
  const { run } = place({}, { isRepository: false })
  const { code, stderr } = await run('new', '--rail', 'release')
  expect([code, stderr]).toEqual([0, expect.stringContaining('git init')])
})

it('keeps every character of a check', async () => {
  const check = 'test "$(git log -1 --format=%s)" = "Release \\"1\\"" && echo \'a # b\''
  const { run, project } = place({})
  await run('new', '--rail', 'release', '--check', check)
  const { stdout } = await run('chain', 'plan', 'release', '--json')
  const [first] = JSON.parse(stdout).plan?.steps ?? JSON.parse(stdout).steps
  expect(first.check).toBe(check)
  expect(readFileSync(join(project, '.claude/skills/release/SKILL.md'), 'utf8')).toContain('gate')
})

it('refuses names that exist, wherever their skills are, and writes nothing', async () => {
  const { run, write, project } = place({})
  const skill = '---\nname: release-publish\ndescription: Publishes. Use when asked.\n---\nDo it.\n'
  write('.agents/skills/release-publish/SKILL.md', skill)
  const { code, stderr } = await run('new', '--rail', 'release')
  expect([code, stderr]).toEqual([1, expect.stringContaining('release-publish')])
  expect(existsSync(join(project, '.claude'))).toBe(false)
  expect(await run('new', '--rail', 'other')).toMatchObject({ code: 0 })
  expect(await run('new', '--rail', 'other')).toMatchObject({ code: 1 })
})

it.each([
  [['Release'], 2],
  [['release', '--check', ' '], 2],
  [['release', '--check', 'one\ntwo'], 2],
])('refuses %j', async (words, expected) => {
  const { run, project } = place({})
  const { code } = await run('new', '--rail', ...words)
  expect(code).toBe(expected)
  expect(existsSync(join(project, '.claude'))).toBe(false)
})

it('refuses --check without --rail', async () => {
  expect(await place({}).run('new', 'release', '--check', 'true')).toMatchObject({ code: 2 })
})

it('prints the skills with --dry-run and writes nothing', async () => {
  const { run, project } = place({})
  const { code, stdout } = await run('new', '--rail', 'release', '--dry-run')
  expect([code, stdout]).toEqual([0, expect.stringContaining('guard="Bash(git push:*)"')])
  expect(existsSync(join(project, '.claude'))).toBe(false)
})

it.each([
  [['.claude'], {}, '.claude/skills', ['/release']],
  [['.codex'], {}, '.agents/skills', ['$release']],
  [['.codex', '.gemini', '.claude'], {}, '.agents/skills', ['$release', '/release']],
  [['.codex', '.claude'], { '.claude/skills/.keep': '' }, '.claude/skills', ['/release']],
  [[], {}, '.agents/skills', []],
])('writes where the clients %j read it', async (clients, files, folder, calls) => {
  const { run } = place(files, { clients })
  const { stdout } = await run('new', '--rail', 'release', '--dry-run', '--json')
  const result = JSON.parse(stdout)
  expect(result.files.at(-1).path).toBe(`${folder}/release/SKILL.md`)
  expect(result.calls.map(({ call }: { call: string }) => call)).toEqual(calls)
})

it('names the command with which a client that reads another folder reads the chain too', async () => {
  const { run, project } = place({}, { clients: ['.codex', '.claude'] })
  const { others } = JSON.parse((await run('new', '--rail', 'release', '--json')).stdout)
  expect(others).toMatchObject([{ client: 'Claude Code' }])
  expect(spawnSync('sh', ['-c', others[0].fix], { cwd: project }).status).toBe(0)
  const { skills } = JSON.parse((await run('list', '--json')).stdout)
  expect(skills).toHaveLength(3)
  for (const { clients } of skills)
    expect(clients).toEqual(expect.arrayContaining(['claude', 'codex']))
})

it('names commands that work one after the other', { timeout: 60_000 }, async () => {
  for (const clients of isBuilt ? [['.claude'], ['.codex'], []] : [[]]) {
    const { run } = place({}, { clients })
    const { stdout } = await run('new', '--rail', 'release', '--json')
    const { next } = JSON.parse(stdout)
    expect(next).toHaveLength(3)
    for (const line of next) {
      const words = String(line)
        .replace(/^(?:npx )?skillrail /, '')
        .split(' ')
      // A person answers the question of `trust`.
      const answered = words[0] === 'trust' ? [...words, '--yes'] : words
      expect([line, (await run(...answered)).code]).toEqual([line, 0])
    }
  }
})

it('makes a rail whose failed check keeps the agent, and whose push waits for the user', async () => {
  const session = makeSession({})
  const remote = `${session.directory}.git`
  const git = (...words: readonly string[]): string => {
    const author = ['-c', 'user.name=One', '-c', 'user.email=one@example.com']
    return execFileSync('git', [...author, ...words], { cwd: session.directory, encoding: 'utf8' })
  }
  session.write('test.sh', 'test "$(cat VERSION)" = 1.2.0\n')
  const args = ['new', '--rail', 'release', '--check', 'sh test.sh', '--dir', '.claude/skills']
  expect(await session.cli(...args)).toMatchObject({ code: 0 })
  git('init', '-q', '--bare', remote)
  git('remote', 'add', 'origin', remote)
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  git('push', '-q', '-u', 'origin', 'HEAD')
  const started = await session.prompt('/release 1.2.0')
  expect(started?.hookSpecificOutput?.additionalContext).toContain('`release-prepare`')
  expect(await session.bash('git push')).toContain('release-publish')
  expect((await session.stop())?.reason).toContain('`sh test.sh`')
  session.write('VERSION', '1.2.0\n')
  git('add', '.')
  git('commit', '-q', '-m', 'Release 1.2.0')
  expect((await session.stop())?.systemMessage).toContain('waits for your approval')
  expect(await session.bash('git push')).toContain('release-publish')
  await session.prompt('rail approve')
  expect(await session.bash('git push')).toBeUndefined()
  const unpublished = await session.stop()
  expect(unpublished).toMatchObject({
    decision: 'block',
    reason: expect.stringContaining('VERSION'),
  })
  git('push', '-q')
  expect((await session.stop())?.systemMessage).toContain('has ended: success')
})
