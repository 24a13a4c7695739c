import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locationTable, skillLocations } from '../../src/library/locations.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { SkillManager } from '../../src/library/manager.ts'
import { fixture } from './_fixture.ts'

const inProject = (): string[] => locationTable.flatMap(({ project }) => project ?? [])

describe('project locations', () => {
  it('go from the working directory up to the repository root, nearest first', () => {
    const { project, runtime } = fixture()
    const cwd = join(project, 'packages/app')
    mkdirSync(cwd, { recursive: true })
    const directories = skillLocations({ ...runtime, cwd })
      .filter(({ scope }) => scope === 'project')
      .map(({ directory }) => directory)
    expect(directories).toEqual(
      [cwd, join(project, 'packages'), project].flatMap((above) =>
        inProject().map((path) => join(above, path)),
      ),
    )
  })

  it('end at a worktree, whose .git is a file', () => {
    const { project, runtime } = fixture()
    const cwd = join(project, 'worktree/src')
    mkdirSync(cwd, { recursive: true })
    writeFileSync(join(project, 'worktree/.git'), 'gitdir: ../.git/worktrees/worktree\n')
    const directories = projectDirectories({ ...runtime, cwd })
    expect(directories).toContain(join(project, 'worktree/.claude/skills'))
    expect(directories).not.toContain(join(project, '.claude/skills'))
  })

  it('are only in the working directory outside a repository', () => {
    const { root, runtime } = fixture()
    const cwd = join(root, 'elsewhere/deep')
    mkdirSync(cwd, { recursive: true })
    expect(projectDirectories({ ...runtime, cwd })).toEqual(
      inProject().map((path) => join(cwd, path)),
    )
  })

  it('never include the home, even when it is kept in Git', () => {
    const { home, runtime } = fixture()
    mkdirSync(join(home, '.git'))
    mkdirSync(join(home, 'work'))
    const away = projectDirectories({ ...runtime, cwd: join(home, 'work') })
    expect(away.every((path) => path.startsWith(join(home, 'work')))).toBe(true)
    expect(projectDirectories({ ...runtime, cwd: home })).toEqual([])
  })

  it('stay the same through a link to the working directory', () => {
    const { root, project, runtime } = fixture()
    symlinkSync(project, join(root, 'link'))
    expect(projectDirectories({ ...runtime, cwd: join(root, 'link') })).toEqual(
      projectDirectories(runtime),
    )
  })
})

it('orders project before user before custom, or user first if the options say so', async () => {
  const { runtime, skill } = fixture()
  for (const directory of ['project/more/a', 'home/.claude/skills/b', 'project/.claude/skills/c']) {
    skill(directory)
  }
  const scopes = async (precedence?: 'user'): Promise<string[]> => {
    const skills = new SkillManager({ runtime, customPaths: ['more'], precedence })
    return (await skills.list()).map(({ scope }) => scope)
  }
  expect(await scopes()).toEqual(['project', 'user', 'custom'])
  expect(await scopes('user')).toEqual(['user', 'project', 'custom'])
})

it('replaces the standard directories with the directories in the options', () => {
  const { project, home, runtime } = fixture()
  const locations = skillLocations(runtime, {
    skillsDirs: ['skills'],
    userSkillsDir: '~/my-skills',
    customPaths: ['/opt/skills', '~/more', 'relative'],
  })
  expect(locations.map(({ directory }) => directory)).toEqual([
    join(project, 'skills'),
    join(home, 'my-skills'),
    '/opt/skills',
    join(home, 'more'),
    join(project, 'relative'),
  ])
  expect(locations.every(({ explicit }) => explicit)).toBe(true)
})

it.each([
  ['.copilot/skills', 'copilot'],
  ['.config/opencode/skills', 'opencode'],
  ['.qwen/skills', 'qwen'],
  ['.pi/agent/skills', 'pi'],
  ['.cursor/skills', 'cursor'],
])('reads the user’s %s, as %s does', (path, client) => {
  const { home, runtime } = fixture()
  expect(skillLocations(runtime)).toContainEqual({
    directory: join(home, path),
    scope: 'user',
    source: `~/${path}`,
    explicit: false,
    clients: expect.arrayContaining([client]),
  })
})

function projectDirectories(runtime: ReturnType<typeof fixture>['runtime']): string[] {
  return skillLocations(runtime)
    .filter(({ scope }) => scope === 'project')
    .map(({ directory }) => directory)
}

describe('the user’s places that a client reads', () => {
  it.each([
    ['CLAUDE_CONFIG_DIR', '/moved', '/moved/skills', 'claude', '.claude/skills'],
    ['CODEX_HOME', '/moved', '/moved/skills', 'codex', '.codex/skills'],
    ['COPILOT_HOME', '/moved', '/moved/skills', 'copilot', '.copilot/skills'],
    ['GEMINI_CLI_HOME', '/moved', '/moved/.gemini/skills', 'gemini', '.gemini/skills'],
    ['GEMINI_CLI_HOME', '/moved', '/moved/.agents/skills', 'gemini', '.agents/skills'],
    ['PI_CODING_AGENT_DIR', '/moved', '/moved/skills', 'pi', '.pi/agent/skills'],
    ['QWEN_HOME', '/moved', '/moved/skills', 'qwen', '.qwen/skills'],
    ['XDG_CONFIG_HOME', '/moved', '/moved/opencode/skills', 'opencode', '.config/opencode/skills'],
  ])('move with variables: %s=%s gives %s for %s', (name, value, directory, client, usual) => {
    const { home, runtime } = fixture()
    const readers = (env: Record<string, string>, place: string) =>
      skillLocations({ ...runtime, env }).find((location) => location.directory === place)?.clients
    expect(readers({ [name]: value }, directory)).toEqual([client])
    expect(readers({ [name]: value }, join(home, usual)) ?? []).not.toContain(client)
    expect(readers({ [name]: 'relative' }, join(home, usual))).toContain(client)
  })

  it('belong to the project if a variable leads into it', () => {
    const at = fixture()
    at.skill('project/settings/skills/one')
    at.skill('home/.claude/skills/two')
    const inProject = { ...at.runtime, env: { CLAUDE_CONFIG_DIR: join(at.project, 'settings') } }
    expect(discoverSkills({ runtime: inProject }).skills).toMatchObject([
      { name: 'one', scope: 'project', trustLevel: 'untrusted', clients: ['claude'] },
      { name: 'two', scope: 'user', trustLevel: 'trusted' },
    ])
  })

  it('are one place if two clients read the same folder', () => {
    const { home, runtime } = fixture()
    const env = { CODEX_HOME: join(home, '.agents') }
    const places = skillLocations({ ...runtime, env }).map(({ directory }) => directory)
    expect(new Set(places).size).toBe(places.length)
  })
})

it('lists only clients that read nested folders for a skill in a nested folder', () => {
  const at = fixture()
  at.skill('project/.claude/skills/common/goodbye')
  at.skill('project/.agents/skills/common/welcome')
  at.skill('project/.claude/skills/hello')
  const { skills } = discoverSkills({ runtime: at.runtime })
  expect(Object.fromEntries(skills.map(({ name, clients }) => [name, clients]))).toEqual({
    goodbye: ['copilot', 'cursor', 'opencode'],
    hello: ['claude', 'copilot', 'cursor', 'opencode'],
    welcome: ['codex', 'copilot', 'cursor', 'opencode', 'pi'],
  })
})

it.each([
  ['description', { description: 'Do this: then that' }],
  ['another field', { more: 'compatibility: Needs: git' }],
])('pi is no reader of a skill with an unquoted colon in %s', (_, text) => {
  const { runtime, skill } = fixture()
  skill('project/.agents/skills/colon', text)
  skill('project/.agents/skills/plain')
  const { skills } = discoverSkills({ runtime })
  const readers = Object.fromEntries(skills.map(({ name, clients }) => [name, clients]))
  expect(readers['plain']).toContain('pi')
  expect(readers['colon']).toEqual(readers['plain']?.filter((client) => client !== 'pi'))
})
