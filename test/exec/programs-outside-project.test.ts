import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findProgram, safeSearchPath } from '../../src/core/find-program.ts'
import { runInProcess } from '../run-in-process.ts'

const usual = process.env['PATH'] ?? ''

function makeFolders() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-programs-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const project = join(base, 'project')
  const home = join(base, 'home')
  const write = (path: string, text: string, mode = 0o755): string => {
    const file = join(base, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
    return file
  }
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  /** Programs with these names in a folder, which say that they ran instead of what was asked for. */
  const plant = (folder: string, names: readonly string[]): string => {
    for (const name of names)
      write(`${folder}/${name}`, `#!/bin/sh\necho ${name} > ${base}/taken\n`)
    return join(base, folder)
  }
  const taken = () =>
    existsSync(join(base, 'taken')) ? readFileSync(join(base, 'taken'), 'utf8').trim() : undefined
  return { base, project, home, write, plant, taken }
}

const search = (project: string, ...folders: readonly string[]) => ({
  env: { PATH: [...folders, usual].join(':') },
  platform: process.platform,
  cwd: project,
})

describe.skipIf(process.platform === 'win32')('a program that Skillrail starts by itself', () => {
  it('is never a program of the project, whatever the search path contains', () => {
    const { base, project, plant } = makeFolders()
    const bin = plant('project/node_modules/.bin', ['git', 'only-here'])
    symlinkSync(bin, join(base, 'link'))
    mkdirSync(join(base, 'tools'))
    symlinkSync(join(bin, 'only-here'), join(base, 'tools/only-here'))
    const before = findProgram('git', search(project))
    expect(before).toBeDefined()
    for (const folder of [bin, join(base, 'link'), '', '.', 'node_modules/.bin']) {
      expect(findProgram('git', search(project, folder))).toBe(before)
    }
    expect(findProgram('only-here', search(project, bin, join(base, 'tools')))).toBeUndefined()
    expect(findProgram('only-here', search(base, join(base, 'elsewhere')))).toBeUndefined()
  })

  it('is never a file that every account can write', () => {
    const { project, plant } = makeFolders()
    const open = plant('open', ['git'])
    const file = plant('closed', ['git'])
    const before = findProgram('git', search(project))
    chmodSync(open, 0o777)
    chmodSync(join(file, 'git'), 0o757)
    expect(findProgram('git', search(project, open, file))).toBe(before)
  })

  it('can be in a folder of the user outside the project', () => {
    const { project, plant } = makeFolders()
    const bin = plant('home/.local/bin', ['git'])
    expect(findProgram('git', search(project, bin))).toBe(join(bin, 'git'))
    expect(safeSearchPath(search(project, join(project, 'bin'), bin)).split(':')[0]).toBe(bin)
  })
})

/** Without `bash` where Python runs: version managers put a script of Bash in its place. */
const planted = (text: string, name: string): string[] => {
  const isPython = text.includes('python') || name.endsWith('.py')
  const names = ['python3', 'node', 'sh', 'env', 'git', 'bwrap', 'ssh-keygen']
  return isPython ? names : [...names, 'bash']
}

describe.skipIf(process.platform === 'win32')('the script of a user’s own skill', () => {
  it.each([
    ['run.py', 'print(1)\n', 0o644],
    ['run.py', '#!/usr/bin/env python3\nprint(1)\n', 0o755],
    ['run', '#!/usr/bin/env -S python3 -u\nprint(1)\n', 0o755],
    ['run', '#!/usr/bin/env -S A=1 python3 -u\nprint(1)\n', 0o755],
    ['run', '#!/usr/bin/env -S -i python3\nprint(1)\n', 0o755],
    ['run.sh', 'true\n', 0o644],
    ['run', '#!/usr/bin/env bash\ntrue\n', 0o755],
    ['run', '#!/usr/bin/env bash\ntrue\n', 0o644],
    ['run.mjs', '', 0o644],
  ])('is not run by an interpreter of the project: %s %j %o', async (name, text, mode) => {
    const { project, home, write, plant, taken } = makeFolders()
    const bin = plant('project/node_modules/.bin', planted(text, name))
    const skill = 'home/.claude/skills/build'
    write(
      `${skill}/SKILL.md`,
      '---\nname: build\ndescription: Builds. Use for builds.\n---\n',
      0o644,
    )
    write(`${skill}/scripts/${name}`, text, mode)
    const env = { PATH: `${bin}:${usual}` }
    const { code, stderr } = await runInProcess(['run', 'build'], { cwd: project, home, env })
    expect({ code, stderr, taken: taken() }).toMatchObject({ code: 0, taken: undefined })
  })

  it('finds its own programs on the unchanged search path', async () => {
    const { project, home, write, plant, taken } = makeFolders()
    const bin = plant('project/node_modules/.bin', ['helper'])
    const skill = 'home/.claude/skills/build'
    write(
      `${skill}/SKILL.md`,
      '---\nname: build\ndescription: Builds. Use for builds.\n---\n',
      0o644,
    )
    write(`${skill}/scripts/run`, '#!/usr/bin/env bash\nhelper\n')
    const env = { PATH: `${bin}:${usual}` }
    expect((await runInProcess(['run', 'build'], { cwd: project, home, env })).code).toBe(0)
    expect(taken()).toBe('helper')
  })

  it('is refused if only the project has its interpreter', async () => {
    const { project, home, write, plant, taken } = makeFolders()
    const bin = plant('project/node_modules/.bin', ['only-here'])
    const skill = 'home/.claude/skills/build'
    write(
      `${skill}/SKILL.md`,
      '---\nname: build\ndescription: Builds. Use for builds.\n---\n',
      0o644,
    )
    write(`${skill}/scripts/run`, '#!/usr/bin/env only-here\n')
    const env = { PATH: `${bin}:${usual}` }
    const { code, stdout, stderr } = await runInProcess(['run', 'build'], {
      cwd: project,
      home,
      env,
    })
    expect({ code: code === 0, taken: taken() }).toEqual({ code: false, taken: undefined })
    expect(stdout + stderr).toContain('only-here')
  })
})
