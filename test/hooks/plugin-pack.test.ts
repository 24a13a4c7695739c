import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allSkillsMark } from '../../src/hooks/adapters.ts'
import { packPlugin } from '../../src/hooks/pack-plugin.ts'
import { readPlugin } from '../../src/library/plugins.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { runInProcess } from '../run-in-process.ts'
import { fixture } from '../library/_fixture.ts'
import { makeFixture } from './_fixture.ts'

const triggers = 'metadata:\n  version: 2.1.0\n  triggers: "^/deploy => rules.md"'

function skills() {
  const at = fixture()
  at.skill('project/skills/deploy', { more: triggers })
  at.write({ 'project/skills/deploy/rules.md': 'RULES' })
  at.write({ 'project/skills/deploy/scripts/run.sh': '#!/bin/sh\n' })
  const pack = async (...args: readonly string[]) =>
    await runInProcess(['hooks', 'pack', ...args], { cwd: at.project, home: at.home })
  return { ...at, pack }
}

describe('plugin pack', () => {
  it('packs all files of a skill, and its version', () => {
    const { runtime } = skills()
    const found = discoverSkills({ runtime, customPaths: ['skills'] }).skills
    const files = packPlugin('acme.deploy', found)
    expect(files.map(({ path }) => path)).toEqual([
      'plugin.json',
      'skills/deploy/SKILL.md',
      'skills/deploy/rules.md',
      'skills/deploy/scripts/run.sh',
    ])
    const manifest = JSON.parse(String(files[0]?.bytes))
    expect(manifest).toMatchObject({ name: 'acme.deploy', version: '2.1.0' })
  })

  it("finds the client's package from the sources too, built or not", async () => {
    const { stdout, stderr } = await skills().pack('skills/deploy', '--client=claude', '--dry-run')
    expect(stdout + stderr).toMatch(/hook.hook\.cjs \(|plugins.hook has no hook/)
  })

  it('writes a folder that validate accepts and that a project can use', async () => {
    const { project, home, runtime, skill, pack } = skills()
    skill('project/skills/deploy')
    const dryRun = await pack('skills/deploy', '--dry-run')
    expect(dryRun.stdout).toContain('plugin.json (')
    expect(existsSync(join(project, 'deploy-plugin'))).toBe(false)
    expect((await pack('skills/deploy', '--out', '.agents/plugins')).code).toBe(0)
    const directory = join(project, '.agents/plugins/portable')
    expect(readPlugin(directory)).toMatchObject({ name: 'deploy', diagnostics: [] })
    const checked = await runInProcess(['validate', directory], { cwd: project, home })
    expect(checked.stdout).toContain('1 plugin and 1 skill checked, all valid')
    expect(discoverSkills({ runtime }).skills.map(({ source }) => source)).toEqual([
      '.agents/plugins/portable',
    ])
    expect(readdirSync(join(project, '.agents/plugins'))).toEqual(['portable'])
  })

  it('writes the given version, and says how each client installs the plugin', async () => {
    const { project, pack } = skills()
    const args = ['skills/deploy', '--version', '3.0.0-beta.1', '--client', 'claude', 'opencode']
    const { stdout } = await pack(...args, '--json')
    const { plugins }: { plugins: { client?: string; install?: string }[] } = JSON.parse(stdout)
    const directory = join(project, 'deploy-plugin')
    const manifest = readFileSync(join(directory, 'portable/plugin.json'), 'utf8')
    expect(JSON.parse(manifest)).toMatchObject({ version: '3.0.0-beta.1' })
    expect(plugins.map(({ install }) => install)).toEqual([
      undefined,
      `claude plugin marketplace add ${directory}/claude && claude plugin install deploy@deploy`,
      `add "file://${directory}/opencode" to "plugin" in opencode.json`,
    ])
    const printed = await pack('skills/deploy', '--out', 'made', '--client', 'qwen')
    expect(printed.stdout).toContain(`\n  qwen extensions install ${project}/made/qwen\n`)
  })

  it.each([
    [['nowhere'], 'has no SKILL.md', 2],
    [['skills/deploy', '--name', 'Not Valid'], 'cannot be the name of a plugin', 2],
    [['skills/deploy', '--version', 'newest'], '"newest" is not a version', 2],
    [['skills/deploy', '--client', 'cursor'], 'there are no packages for cursor', 2],
    [['skills/deploy', '--out', 'skills'], 'exists already; nothing was written', 1],
  ])('refuses %j: %s', async (args, message, code) => {
    const { pack } = skills()
    expect(await pack(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) })
  })

  it.each([
    ['a name that is not its folder', { name: 'not-its-folder' }, 'name-directory-mismatch'],
    [
      'a trigger without its reference',
      { more: 'metadata:\n  triggers: "^/x => gone.md"' },
      'trigger-target-missing',
    ],
    [
      'a pattern that is not valid',
      { more: 'metadata:\n  triggers: "^/x( => SKILL.md"' },
      'pattern-invalid',
    ],
    ['a chain whose step is missing', { more: 'metadata:\n  chain: nobody' }, 'step-missing'],
  ])('refuses a skill that validate refuses: %s', async (_, declared, error) => {
    const { project, home, skill, pack } = skills()
    skill('project/skills/other', declared)
    const validated = await runInProcess(['validate', 'skills'], { cwd: project, home })
    expect([validated.code, validated.stdout]).toEqual([1, expect.stringContaining(error)])
    for (const more of [[], ['--dry-run'], ['--client', 'claude']]) {
      const { code, stderr } = await pack('skills', ...more)
      expect([code, stderr]).toEqual([1, expect.stringContaining(error)])
      expect(existsSync(join(project, 'skills-plugin'))).toBe(false)
    }
  })

  it('prints the warnings of validate and packs', async () => {
    const { skill, pack } = skills()
    skill('project/skills/deploy', { more: triggers.replace('^/deploy', '^ deploy') })
    const { code, stderr } = await pack('skills/deploy', '--dry-run')
    expect([code, stderr]).toEqual([0, expect.stringContaining('[trigger-never-fires]')])
  })
})

describe('the hook in a plugin', () => {
  const plugin = '.claude/plugins/cache/market/one/1.0.0'
  const own = { payload: { session_id: 'own' } }

  function installed() {
    const at = makeFixture()
    at.skill('mine', [['^do it', 'SKILL.md']])
    at.skill('packed', [['^do it', 'SKILL.md']], `${plugin}/skills`)
    at.write(`${plugin}/skillrail-hook`, '')
    return { ...at, env: { SKILLRAIL_PLUGIN: join(at.home, plugin) } }
  }

  it("injects only the references of its plugin, and the user's hook injects all others", async () => {
    const { ask, env } = installed()
    const ofPlugin = await ask('claude', 'do it', { ...own, env })
    expect([ofPlugin.stdout.includes('# packed'), ofPlugin.stdout.includes('# mine')]).toEqual([
      true,
      false,
    ])
    const ofUser = await ask('claude', 'do it', own)
    expect([ofUser.stdout.includes('# packed'), ofUser.stdout.includes('# mine')]).toEqual([
      false,
      true,
    ])
  })

  it('serves all skills from the package of Skillrail, which has a skill of its own', async () => {
    const { ask, env, write } = installed()
    write(`${plugin}/${allSkillsMark}`, '')
    const { stdout } = await ask('claude', 'do it', { ...own, env })
    expect(stdout).toContain('# mine')
    expect(stdout).not.toContain('# packed')
  })

  it('serves all skills from a folder that is not a plugin', async () => {
    const { ask, home, write } = installed()
    write('.pi/agent/extensions/skills/notes.md', '')
    const env = { SKILLRAIL_PLUGIN: join(home, '.pi/agent/extensions') }
    expect((await ask('claude', 'do it', { ...own, env })).stdout).toContain('# mine')
  })

  it('notices a plugin that was installed later', async () => {
    const at = makeFixture()
    expect((await at.ask('claude', 'do it')).stdout).toBe('')
    at.skill('later', [['^do it', 'SKILL.md']], '.gemini/extensions/two/skills')
    at.write('.gemini/extensions/two/gemini-extension.json', '{"name":"two","version":"1.0.0"}')
    const answer = await at.ask('claude', 'do it', { payload: { session_id: 'later' } })
    expect(answer.stdout).toContain('# later')
  })
})
