import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'

/** A real directory with a project in a repository and a home, gone after the test. */
export interface Fixture {
  root: string
  project: string
  home: string
  runtime: Runtime
  /** Writes files below the root. */
  write: (files: Readonly<Record<string, string>>) => void
  /** Writes a valid skill below the root; `more` are further lines of frontmatter. */
  skill: (directory: string, options?: SkillText) => string
}

export interface SkillText {
  name?: string | undefined
  description?: string | undefined
  more?: string | undefined
  body?: string | undefined
}

export function fixture(overrides: Partial<Runtime> = {}): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-library-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [project, home] = [join(root, 'project'), join(root, 'home')]
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
  }
  return {
    root,
    project,
    home,
    runtime: systemRuntime({ cwd: project, home, env: {}, ...overrides }),
    write,
    skill: (directory, options) => {
      write({ [`${directory}/SKILL.md`]: skillText(directory, options) })
      return join(root, directory)
    },
  }
}

export function skillText(directory: string, options: SkillText = {}): string {
  const name = options.name ?? directory.slice(directory.lastIndexOf('/') + 1)
  const description = options.description ?? `Does ${name}. Use when asked for ${name}.`
  const more = options.more === undefined ? '' : `${options.more}\n`
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\n${options.body ?? `Do ${name}.`}\n`
}
