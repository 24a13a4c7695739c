import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

const skill = '.claude/skills/deploy'

function project() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-cli-lock-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const workspace = join(root, 'project')
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  write('.git/HEAD', '')
  write(
    `${skill}/SKILL.md`,
    '---\nname: deploy\ndescription: Deploys. Use when asked to.\nrun: scripts/run.sh\n---\nDo it.\n',
  )
  write(`${skill}/scripts/run.sh`, '#!/bin/sh\necho "home is $HOME"\n')
  const home = join(root, 'home')
  const cli = (...args: string[]) =>
    runInProcess(args, { cwd: workspace, home, env: { NO_COLOR: '1' } })
  const trust = (...args: string[]) => cli('trust', ...args)
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await trust('--json', ...args)).stdout)
  const lock = join(workspace, '.skillrail/skills.lock.json')
  return { root, home, workspace, write, cli, trust, json, lock, directory: join(workspace, skill) }
}

it('locks nothing in a workspace that is not trusted, unless the same command trusts it', async () => {
  const { trust, json, lock } = project()
  const refused = await trust('--lock')
  expect(refused).toMatchObject({ code: 4 })
  expect(refused.stdout).toContain(`  deploy  ${skill}  sha256:`)
  expect(refused.stderr).toContain('--yes')
  expect(await trust('--lock', '--dry-run')).toMatchObject({ code: 0 })
  expect(existsSync(lock)).toBe(false)
  const written = await trust('--lock', '--yes')
  expect(written.stdout).toContain('Trusted.\nLocked: .skillrail/skills.lock.json\n')
  expect(await json('--dry-run')).toMatchObject({ state: 'trusted', lock: { state: 'locked' } })
})

it('writes nothing without a change, and asks no question for the first lock', async () => {
  const { trust, json, lock } = project()
  await trust('--yes')
  expect(await trust('--lock')).toMatchObject({ code: 0 })
  const { mtimeMs, ino } = statSync(lock)
  expect((await trust('--lock')).stdout).toContain('every skill matches the lock')
  expect(await json('--lock', '--yes')).toMatchObject({ written: false })
  expect(statSync(lock)).toMatchObject({ mtimeMs, ino })
})

it('shows drift as a diff with visible control characters, until it is locked', async () => {
  const { trust, json, write, directory } = project()
  await trust('--lock', '--yes')
  expect(await trust('--lock', '--check')).toMatchObject({ code: 0, stderr: '' })
  appendFileSync(join(directory, 'SKILL.md'), 'And \u001b[2Jthat\u202e.\n')
  write(`${skill}/evil\u001b[31m.md`, 'x\n')
  const check = await trust('--lock', '--check')
  expect(check.code).toBe(1)
  expect(check.stdout).toContain(`  changed: deploy  ${skill}\n    changed: SKILL.md\n`)
  expect(check.stdout).toContain('       Do it.\n      +And \\x1b[2Jthat\\u{202e}.\n')
  expect(check.stdout).toContain('    added: evil\\x1b[31m.md\n')
  expect(check.stdout).not.toContain('\u001b')
  const plain = await trust()
  expect(plain.code).toBe(1)
  expect(plain.stdout).toContain('      +And \\x1b[2Jthat\\u{202e}.\n')
  expect(plain.stderr).toContain('skillrail trust --lock')
  expect(await trust('--lock')).toMatchObject({ code: 4 })
  expect(await json('--lock', '--check')).toMatchObject({
    ok: false,
    lock: { state: 'drifted', changes: [{ path: skill, files: [{ path: 'SKILL.md' }, {}] }] },
  })
  expect(await json('--lock', '--yes')).toMatchObject({ written: true, lock: { was: 'drifted' } })
  expect(await trust('--lock', '--check')).toMatchObject({ code: 0 })
})

it('reports on another machine that the locked text is not kept there', async () => {
  const { trust, home, directory } = project()
  await trust('--lock', '--yes')
  rmSync(home, { recursive: true })
  appendFileSync(join(directory, 'SKILL.md'), 'More.\n')
  const { code, stdout } = await trust('--lock', '--check')
  expect(code).toBe(1)
  expect(stdout).toContain(
    'changed: SKILL.md (no diff: the text that was locked was not kept here)',
  )
})

it('treats a skill that drifted as untrusted, until it is locked again', async () => {
  const { trust, cli, home, directory } = project()
  const refuse = { SKILLRAIL_RUN_SANDBOX: 'refuse' }
  const run = (...args: string[]) =>
    runInProcess(['run', 'deploy', ...args], { cwd: dirname(directory), home, env: refuse })
  await trust('--lock', '--yes')
  expect(await run()).toMatchObject({ code: 0 })
  appendFileSync(join(directory, 'SKILL.md'), 'More.\n')
  for (const args of [[], ['--trust-workspace']]) {
    const { code, stderr } = await run(...args)
    expect(code).toBe(4)
    expect(stderr).toContain('it differs from the lock file of its project')
  }
  const { stdout } = await cli('show', '--activate', 'deploy', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ trustLevel: 'untrusted' })
  await trust('--lock', '--yes')
  expect(await run()).toMatchObject({ code: 0 })
})

it('leaves an unreadable lock unchanged, and --unlock removes it', async () => {
  const { trust, json, write, lock } = project()
  await trust('--lock', '--yes')
  write('.skillrail/skills.lock.json', '{\n"version": 7}\n')
  const { code, stderr } = await trust('--lock', '--yes')
  expect(code).toBe(1)
  expect(stderr).toContain(`${lock}: error: the lock file has version 7`)
  expect(await trust('--lock', '--check')).toMatchObject({ code: 1 })
  expect(await trust()).toMatchObject({ code: 1 })
  expect(readFileSync(lock, 'utf8')).toBe('{\n"version": 7}\n')
  expect(await json('--unlock')).toMatchObject({ removed: true })
  expect(await json('--unlock')).toMatchObject({ removed: false })
  expect(await trust()).toMatchObject({ code: 0 })
})

it('fails with --check if there is no lock, and requires --lock', async () => {
  const { trust } = project()
  const { code, stderr } = await trust('--lock', '--check')
  expect(code).toBe(1)
  expect(stderr).toContain('[lock-file-missing]')
  expect(await trust('--check')).toMatchObject({ code: 2 })
})

it('reports that a folder without skills has nothing to lock', async () => {
  const { trust, lock, directory } = project()
  rmSync(directory, { recursive: true })
  expect(await trust('--lock', '--yes')).toMatchObject({ code: 3 })
  expect(existsSync(lock)).toBe(false)
})

it('injects no text of a skill that drifted, by command or hook, whoever vouches for it', async () => {
  const { trust, cli, home, workspace, write, directory } = project()
  const config = JSON.stringify({ skills: { trustedPaths: [directory] } })
  mkdirSync(join(home, '.config/skillrail'), { recursive: true })
  writeFileSync(join(home, '.config/skillrail/config.json'), config)
  const head = 'name: deploy\ndescription: Deploys. Use when asked to.'
  const triggers = 'triggers:\n  - match: ship it\n    inject: guide.md'
  write(`${skill}/SKILL.md`, `---\n${head}\n${triggers}\n---\nDo it.\n`)
  write(`${skill}/guide.md`, 'On Fridays only.\n')
  await trust('--lock', '--yes')
  const input = JSON.stringify({
    session_id: 's',
    cwd: workspace,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'ship it',
  })
  const hook = () =>
    runInProcess(['hooks', 'run', 'claude'], {
      cwd: workspace,
      home,
      stdin: input,
      env: { NO_COLOR: '1' },
    })
  expect((await cli('triggers', 'inject', 'ship it')).stdout).toContain('On Fridays only.')
  expect((await hook()).stdout).toContain('On Fridays only.')
  write(`${skill}/guide.md`, 'Never look.\n')
  const injected = await cli('triggers', 'inject', 'ship it')
  expect(injected.stdout).toBe('')
  expect(injected.stderr).toContain('not trusted')
  expect((await hook()).stdout).not.toContain('Never look.')
  await trust('--lock', '--yes')
  expect((await hook()).stdout).toContain('Never look.')
})

it('reports a deleted lock until it is unlocked or written again', async () => {
  const { trust, json, lock, directory } = project()
  await trust('--lock', '--yes')
  rmSync(lock)
  const plain = await trust()
  expect(plain).toMatchObject({ code: 0 })
  expect(plain.stderr).toContain('[lock-file-gone]')
  expect(await json()).toMatchObject({ lock: { diagnostics: [{ code: 'lock-file-gone' }] } })
  const check = await trust('--lock', '--check')
  expect(check.code).toBe(1)
  expect(check.stderr).toContain('the lock file of the project is gone')
  appendFileSync(join(directory, 'SKILL.md'), 'More.\n')
  expect(await trust('--lock')).toMatchObject({ code: 4 })
  expect(existsSync(lock)).toBe(false)
  await trust('--unlock')
  expect((await trust()).stderr).not.toContain('gone')
  expect(await trust('--lock')).toMatchObject({ code: 0 })
})

it('prints a file name with line breaks as one line of a diff', async () => {
  const { trust, write } = project()
  await trust('--lock', '--yes')
  write(`${skill}/a\n+approved by the owner\n.md`, 'x\n')
  write(`${skill}/scripts/b\n+approved by the owner\n.sh`, 'x\n')
  const { stdout } = await trust('--dry-run')
  expect(stdout).toContain('added: a +approved by the owner .md')
  expect(stdout).not.toMatch(/^\s*\+approved/m)
  expect(stdout).toContain('      @@ -1,0 +1,1 @@\n      +x\n')
})

it('applies the lock to a project skill that the configuration names by path', async () => {
  const { trust, cli, home, workspace, write, directory } = project()
  mkdirSync(join(home, '.config/skillrail'), { recursive: true })
  const own = JSON.stringify({ skills: { trustedPaths: [workspace] } })
  writeFileSync(join(home, '.config/skillrail/config.json'), own)
  await trust('--lock', '--yes')
  write('.skillrail/config.json', JSON.stringify({ skills: { paths: ['elsewhere'] } }))
  mkdirSync(join(workspace, 'elsewhere'))
  renameSync(directory, join(workspace, 'elsewhere/deploy'))
  const levels = async (): Promise<unknown> =>
    JSON.parse((await cli('show', '--activate', 'deploy', '--json')).stdout)
  expect(await levels()).toMatchObject({ trustLevel: 'untrusted' })
  expect((await trust('--lock', '--check')).stdout).toContain('added: deploy  elsewhere/deploy')
  await trust('--lock', '--yes')
  expect(await trust('--lock', '--check')).toMatchObject({ code: 0 })
  expect(await levels()).toMatchObject({ trustLevel: 'trusted' })
})
