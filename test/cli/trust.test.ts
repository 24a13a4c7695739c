import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

const skill = '.skillrail/skills/deploy'

function project() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-cli-trust-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const workspace = join(root, 'project')
  write(join(workspace, '.git/HEAD'), '')
  write(
    join(workspace, skill, 'SKILL.md'),
    '---\nname: deploy\ndescription: Deploys. Use when asked to.\nallowed-tools: Bash(git:*)\n---\nDo it.\n',
  )
  write(join(workspace, skill, 'scripts/run.sh'), '#!/bin/sh\necho one\n')
  const run = async (...args: string[]) => {
    const place = { cwd: workspace, home: join(root, 'home'), env: { NO_COLOR: '1' } }
    return await runInProcess(['trust', ...args], place)
  }
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await run('--json', ...args)).stdout)
  return { root, workspace, run, json }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

it('shows what can execute, and trusts nothing without a terminal and --yes', async () => {
  const { run, json } = project()
  const { code, stdout, stderr } = await run()
  expect(code).toBe(4)
  expect(stdout).toContain(`  ${dirname(skill)}\n    deploy  allowed-tools  Bash(git:*)\n`)
  expect(stdout).toContain('            script         scripts/run.sh (sh, 19 B)\n')
  expect(stderr).toContain('it was not confirmed')
  expect(stderr).toContain('--yes')
  expect(await json('--list')).toEqual({ workspaces: [], diagnostics: [] })
})

it('reports that nothing can run', async () => {
  const { run, workspace } = project()
  rmSync(join(workspace, '.skillrail'), { recursive: true })
  expect((await run('--dry-run')).stdout).toMatch(/: not trusted, and nothing in it can run yet\n$/)
})

it('shows what a server would start, without the password in an address', async () => {
  const { workspace, run } = project()
  const address = ['postgresql://shop', 'p4ss%21@127.0.0.1:5432/shop'].join(':')
  const hidden = 'https://a:$(echo x)@b.test'
  const server = { command: 'npx', args: ['database', address, hidden] }
  write(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { shop: server } }))
  const { stdout } = await run()
  expect(stdout).toContain('shop: npx database postgresql://shop:[redacted]@127.0.0.1:5432/shop')
  expect(stdout).toContain(hidden)
})

it('trusts with --yes, from a subfolder too, and reports that the next time', async () => {
  const { workspace, run, json } = project()
  mkdirSync(join(workspace, 'src'))
  expect((await run('src', '--yes')).code).toBe(0)
  expect(await json()).toMatchObject({
    workspace,
    state: 'trusted',
    was: 'trusted',
    accepted: false,
  })
  expect(await json('--list')).toMatchObject({
    workspaces: [{ workspace, pinned: false, parts: 2 }],
  })
})

it('shows a change as a diff with visible control characters, until it is accepted', async () => {
  const { workspace, run, json } = project()
  await run('--yes')
  write(join(workspace, skill, 'scripts/run.sh'), '#!/bin/sh\necho \u001b[2Jtwo\u202e\n')
  write(join(workspace, '.mcp.json'), '{"mcpServers":{"x":{"command":"npx","args":["y"]}}}')
  const { code, stdout } = await run()
  expect(code).toBe(4)
  expect(stdout).toContain(`  changed: script ${skill}/scripts/run.sh\n`)
  expect(stdout).toContain('    -echo one\n    +echo \\x1b[2Jtwo\\u{202e}\n')
  expect(stdout).toContain('  added: mcp .mcp.json\n')
  expect(stdout).toContain('    server         x: npx y\n')
  expect(await json('--dry-run')).toMatchObject({ state: 'changed', accepted: false })
  expect(await json('--yes')).toMatchObject({ state: 'trusted', was: 'changed', accepted: true })
  expect((await run()).code).toBe(0)
})

it('allows changes of text, but not with --pin', async () => {
  const { workspace, run, json } = project()
  const guide = join(workspace, skill, 'references/guide.md')
  await run('--yes')
  write(guide, 'one\n')
  expect(await json('--dry-run')).toMatchObject({ state: 'trusted' })
  expect((await run('--pin', '--yes')).stdout).toContain('Trusted, with its text.')
  write(guide, 'two\n')
  expect(await json('--dry-run')).toMatchObject({
    state: 'changed',
    pinned: true,
    changes: [{ change: 'changed', kind: 'text', path: `${skill}/references/guide.md` }],
  })
  expect(await json('--no-pin', '--yes')).toMatchObject({ pinned: false, accepted: true })
  write(guide, 'three\n')
  expect(await json('--dry-run')).toMatchObject({ state: 'trusted' })
})

it('revokes trust, also for a deleted workspace', async () => {
  const { root, workspace, run, json } = project()
  await run('--yes')
  renameSync(workspace, join(root, 'moved'))
  mkdirSync(workspace)
  expect(await json('--revoke', workspace)).toEqual({ workspace, revoked: true })
  expect(await json('--revoke', workspace)).toEqual({ workspace, revoked: false })
})

it('trusts a folder of skills outside the standard locations, and reviews it again from the root', async () => {
  const { workspace, run, json } = project()
  const text = '---\nname: extra\ndescription: Does more. Use when asked to.\n---\nDo it.\n'
  write(join(workspace, 'examples/extra/SKILL.md'), text)
  write(join(workspace, 'examples/extra/scripts/run.sh'), 'echo\n')
  expect((await run('examples', '--yes')).code).toBe(0)
  expect(await json('--dry-run')).toMatchObject({ state: 'trusted' })
  write(join(workspace, 'examples/extra/scripts/run.sh'), 'echo changed\n')
  expect(await json('--dry-run')).toMatchObject({ state: 'changed' })
})

it('refuses a damaged record and leaves it as it is', async () => {
  const { root, run } = project()
  write(join(root, 'home/.local/state/skillrail/trust.json'), '{"version": 1,')
  const { code, stderr } = await run('--yes')
  expect(code).toBe(1)
  expect(stderr).toContain('trust.json is damaged: it is not JSON')
  expect((await run('--list')).code).toBe(1)
})

it('reports that a path does not exist', async () => {
  expect(await project().run('nowhere')).toMatchObject({ code: 2, stdout: '' })
})

it('trusts only the skill at a path', async () => {
  const { workspace, run, json } = project()
  const note = '.skillrail/skills/note'
  const text = '---\nname: note\ndescription: Notes. Use when asked to.\n---\nNote.\n'
  write(join(workspace, note, 'SKILL.md'), text)
  write(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { shop: { command: 'shop' } } }))
  const { code, stdout } = await run(skill, '--yes')
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    `Skill ${skill} of ${workspace}: not trusted. After trusting it, this can execute:`,
  ])
  expect(stdout).not.toContain('.mcp.json')
  expect(await json(skill, '--dry-run')).toMatchObject({ state: 'trusted', skill })
  expect(await json(note, '--dry-run')).toMatchObject({ state: 'untrusted', skill: note })
  expect(await json('--dry-run')).toMatchObject({ state: 'untrusted' })
  expect(await json('--list')).toMatchObject({ workspaces: [{ workspace, skills: [skill] }] })
  await run(note, '--yes')
  expect(await json('--list')).toMatchObject({ workspaces: [{ skills: [skill, note] }] })
  await run('--yes')
  expect(await json('--dry-run')).toMatchObject({ state: 'trusted' })
})

it('accepts the changes of one skill in a trusted workspace, and no others', async () => {
  const { workspace, run, json } = project()
  const other = '.skillrail/skills/other'
  write(join(workspace, other, 'SKILL.md'), '---\nname: other\ndescription: Other.\n---\nDo it.\n')
  write(join(workspace, other, 'scripts/run.sh'), 'echo one\n')
  await run('--yes')
  for (const name of [skill, other]) write(join(workspace, name, 'scripts/run.sh'), 'echo two\n')
  expect((await run(skill, '--yes')).stdout).not.toContain('other')
  expect(await json(skill, '--dry-run')).toMatchObject({ state: 'trusted' })
  const changes = [{ path: `${other}/scripts/run.sh` }]
  expect(await json('--dry-run')).toMatchObject({ state: 'changed', changes })
  expect((await run(skill, '--pin')).code).toBe(2)
})

it('shows parallel steps as such, and names the steps that wait', async () => {
  const { workspace, run } = project()
  const chain = 'chain: |\n    build\n    lint & unit\n    deploy gate'
  write(
    join(workspace, '.skillrail/skills/ship/SKILL.md'),
    `---\nname: ship\ndescription: Ships. Use when asked to.\nmetadata:\n  ${chain}\n---\nDo it.\n`,
  )
  const { stdout } = await run('.skillrail/skills/ship', '--dry-run')
  expect(stdout).toContain('    ship  chain          build → lint & unit → deploy\n')
  expect(stdout).toContain('          waits before   deploy\n')
  expect(stdout).not.toContain('allowed-tools')
})
