import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientsReading, locationTable, skillLocations } from '../../src/library/locations.ts'
import { SkillManager } from '../../src/library/manager.ts'
import { world } from './_world.ts'

const inProject = (): string[] => locationTable.flatMap(({ project }) => project ?? [])

describe('project locations', () => {
  it('go from the working directory up to the root of the repository, nearest first', () => {
    const { project, runtime } = world()
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
    const { project, runtime } = world()
    const cwd = join(project, 'worktree/src')
    mkdirSync(cwd, { recursive: true })
    writeFileSync(join(project, 'worktree/.git'), 'gitdir: ../.git/worktrees/worktree\n')
    const directories = projectDirectories({ ...runtime, cwd })
    expect(directories).toContain(join(project, 'worktree/.claude/skills'))
    expect(directories).not.toContain(join(project, '.claude/skills'))
  })

  it('are those of the working directory alone outside a repository', () => {
    const { root, runtime } = world()
    const cwd = join(root, 'elsewhere/deep')
    mkdirSync(cwd, { recursive: true })
    expect(projectDirectories({ ...runtime, cwd })).toEqual(
      inProject().map((path) => join(cwd, path)),
    )
  })

  it('never include the home, even when it is kept in Git', () => {
    const { home, runtime } = world()
    mkdirSync(join(home, '.git'))
    mkdirSync(join(home, 'work'))
    const away = projectDirectories({ ...runtime, cwd: join(home, 'work') })
    expect(away.every((path) => path.startsWith(join(home, 'work')))).toBe(true)
    expect(projectDirectories({ ...runtime, cwd: home })).toEqual([])
  })

  it('are the same through a link to the working directory', () => {
    const { root, project, runtime } = world()
    symlinkSync(project, join(root, 'link'))
    expect(projectDirectories({ ...runtime, cwd: join(root, 'link') })).toEqual(
      projectDirectories(runtime),
    )
  })
})

it('US-002 AC4: puts project before user before custom, or user first where that is asked for', async () => {
  const { runtime, skill } = world()
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

it('takes directories in place of the standard ones', () => {
  const { project, home, runtime } = world()
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
])('the user’s own %s is read, as %s reads it', (path, client) => {
  const { home, runtime } = world()
  expect(skillLocations(runtime)).toContainEqual({
    directory: join(home, path),
    scope: 'user',
    source: `~/${path}`,
    explicit: false,
  })
  expect(clientsReading(`~/${path}`)).toContain(client)
})

function projectDirectories(runtime: ReturnType<typeof world>['runtime']): string[] {
  return skillLocations(runtime)
    .filter(({ scope }) => scope === 'project')
    .map(({ directory }) => directory)
}
