import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'

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
  const run = (...args: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: join(root, 'home'), NO_COLOR: '1' }
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'trust', ...args], {
      cwd: workspace,
      env,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const json = (...args: string[]): unknown => JSON.parse(run('--json', ...args).stdout)
  return { root, workspace, run, json }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

it('shows what can execute, and trusts nothing without a terminal and --yes', () => {
  const { run, json } = project()
  const { status, stdout, stderr } = run()
  expect(status).toBe(4)
  expect(stdout).toContain(`deploy  ${skill}\n    allowed-tools  Bash(git:*)\n`)
  expect(stdout).toContain('    script         scripts/run.sh (sh, 19 B)\n')
  expect(stderr).toContain('it was not confirmed')
  expect(stderr).toContain('--yes')
  expect(json('--list')).toEqual({ workspaces: [], diagnostics: [] })
})

it('reports that nothing can run', () => {
  const { run, workspace } = project()
  rmSync(join(workspace, '.skillrail'), { recursive: true })
  expect(run('--dry-run').stdout).toMatch(/: not trusted, and nothing in it can run yet\n$/)
})

it('shows what a server would start, without the password in an address', () => {
  const { workspace, run } = project()
  const address = ['postgresql://shop', 'p4ss%21@127.0.0.1:5432/shop'].join(':')
  const hidden = 'https://a:$(echo x)@b.test'
  const server = { command: 'npx', args: ['database', address, hidden] }
  write(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { shop: server } }))
  const { stdout } = run()
  expect(stdout).toContain('shop: npx database postgresql://shop:[redacted]@127.0.0.1:5432/shop')
  expect(stdout).toContain(hidden)
})

it('trusts with --yes, from a subfolder too, and reports that the next time', () => {
  const { workspace, run, json } = project()
  mkdirSync(join(workspace, 'src'))
  expect(run('src', '--yes').status).toBe(0)
  expect(json()).toMatchObject({ workspace, state: 'trusted', was: 'trusted', accepted: false })
  expect(json('--list')).toMatchObject({ workspaces: [{ workspace, pinned: false, parts: 2 }] })
})

it('shows a change as a diff with visible control characters, until it is accepted', () => {
  const { workspace, run, json } = project()
  run('--yes')
  write(join(workspace, skill, 'scripts/run.sh'), '#!/bin/sh\necho \u001b[2Jtwo\u202e\n')
  write(join(workspace, '.mcp.json'), '{"mcpServers":{"x":{"command":"npx","args":["y"]}}}')
  const { status, stdout } = run()
  expect(status).toBe(4)
  expect(stdout).toContain(`  changed: script ${skill}/scripts/run.sh\n`)
  expect(stdout).toContain('    -echo one\n    +echo \\x1b[2Jtwo\\u{202e}\n')
  expect(stdout).toContain('  added: mcp .mcp.json\n')
  expect(stdout).toContain('    server         x: npx y\n')
  expect(json('--dry-run')).toMatchObject({ state: 'changed', accepted: false })
  expect(json('--yes')).toMatchObject({ state: 'trusted', was: 'changed', accepted: true })
  expect(run().status).toBe(0)
})

it('allows changes of text, but not with --pin', () => {
  const { workspace, run, json } = project()
  const guide = join(workspace, skill, 'references/guide.md')
  run('--yes')
  write(guide, 'one\n')
  expect(json('--dry-run')).toMatchObject({ state: 'trusted' })
  expect(run('--pin', '--yes').stdout).toContain('Trusted, with its text.')
  write(guide, 'two\n')
  expect(json('--dry-run')).toMatchObject({
    state: 'changed',
    pinned: true,
    changes: [{ change: 'changed', kind: 'text', path: `${skill}/references/guide.md` }],
  })
  expect(json('--no-pin', '--yes')).toMatchObject({ pinned: false, accepted: true })
  write(guide, 'three\n')
  expect(json('--dry-run')).toMatchObject({ state: 'trusted' })
})

it('revokes trust, also for a deleted workspace', () => {
  const { root, workspace, run, json } = project()
  run('--yes')
  renameSync(workspace, join(root, 'moved'))
  mkdirSync(workspace)
  expect(json('--revoke', workspace)).toEqual({ workspace, revoked: true })
  expect(json('--revoke', workspace)).toEqual({ workspace, revoked: false })
})

it('trusts a folder of skills outside the standard locations, and reviews it again from the root', () => {
  const { workspace, run, json } = project()
  const text = '---\nname: extra\ndescription: Does more. Use when asked to.\n---\nDo it.\n'
  write(join(workspace, 'examples/extra/SKILL.md'), text)
  write(join(workspace, 'examples/extra/scripts/run.sh'), 'echo\n')
  expect(run('examples', '--yes').status).toBe(0)
  expect(json('--dry-run')).toMatchObject({ state: 'trusted' })
  write(join(workspace, 'examples/extra/scripts/run.sh'), 'echo changed\n')
  expect(json('--dry-run')).toMatchObject({ state: 'changed' })
})

it('refuses a damaged record and leaves it as it is', () => {
  const { root, run } = project()
  write(join(root, 'home/.local/state/skillrail/trust.json'), '{"version": 1,')
  const { status, stderr } = run('--yes')
  expect(status).toBe(1)
  expect(stderr).toContain('trust.json is damaged: it is not JSON')
  expect(run('--list').status).toBe(1)
})

it('reports that a path does not exist', () => {
  expect(project().run('nowhere')).toMatchObject({ status: 2, stdout: '' })
})

it('trusts only the skill at a path', () => {
  const { workspace, run, json } = project()
  const note = '.skillrail/skills/note'
  const text = '---\nname: note\ndescription: Notes. Use when asked to.\n---\nNote.\n'
  write(join(workspace, note, 'SKILL.md'), text)
  write(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { shop: { command: 'shop' } } }))
  const { status, stdout } = run(skill, '--yes')
  expect([status, stdout.split('\n')[0]]).toEqual([
    0,
    `Skill ${skill} of ${workspace}: not trusted. After trusting it, this can execute:`,
  ])
  expect(stdout).not.toContain('.mcp.json')
  expect(json(skill, '--dry-run')).toMatchObject({ state: 'trusted', skill })
  expect(json(note, '--dry-run')).toMatchObject({ state: 'untrusted', skill: note })
  expect(json('--dry-run')).toMatchObject({ state: 'untrusted' })
  expect(json('--list')).toMatchObject({ workspaces: [{ workspace, skills: [skill] }] })
  run(note, '--yes')
  expect(json('--list')).toMatchObject({ workspaces: [{ skills: [skill, note] }] })
  run('--yes')
  expect(json('--dry-run')).toMatchObject({ state: 'trusted' })
})

it('accepts the changes of one skill in a trusted workspace, and no others', () => {
  const { workspace, run, json } = project()
  const other = '.skillrail/skills/other'
  write(join(workspace, other, 'SKILL.md'), '---\nname: other\ndescription: Other.\n---\nDo it.\n')
  write(join(workspace, other, 'scripts/run.sh'), 'echo one\n')
  run('--yes')
  for (const name of [skill, other]) write(join(workspace, name, 'scripts/run.sh'), 'echo two\n')
  expect(run(skill, '--yes').stdout).not.toContain('other')
  expect(json(skill, '--dry-run')).toMatchObject({ state: 'trusted' })
  const changes = [{ path: `${other}/scripts/run.sh` }]
  expect(json('--dry-run')).toMatchObject({ state: 'changed', changes })
  expect(run(skill, '--pin').status).toBe(2)
})

it('shows parallel steps as such, and names the steps that wait', () => {
  const { workspace, run } = project()
  const chain = 'chain: |\n    build\n    lint & unit\n    deploy gate'
  write(
    join(workspace, '.skillrail/skills/ship/SKILL.md'),
    `---\nname: ship\ndescription: Ships. Use when asked to.\nmetadata:\n  ${chain}\n---\nDo it.\n`,
  )
  const { stdout } = run('.skillrail/skills/ship', '--dry-run')
  expect(stdout).toContain('    chain          build → lint & unit → deploy\n')
  expect(stdout).toContain('    waits before   deploy\n')
  expect(stdout).not.toContain('allowed-tools')
})
