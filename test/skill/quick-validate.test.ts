import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSkillFiles } from '../../src/library/skill-files.ts'
import { validateReference } from '../../src/skill/reference/validate-reference.ts'
import { validateSkill } from '../../src/skill/validate.ts'
import { corpusFolder } from './_corpus.ts'

const shipped = fileURLToPath(new URL('../../skills/creating-skills', import.meta.url))
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))

let root: string
/** A copy of the file, in a folder where nothing else is. */
let script: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-quick-'))
  mkdirSync(join(root, 'tools'))
  script = join(root, 'tools', 'quick_validate.mjs')
  copyFileSync(join(shipped, 'scripts', 'quick_validate.mjs'), script)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function run(...paths: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...paths], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: {},
  })
  return { status, stdout, stderr }
}

function skillDirectories(folder: string): string[] {
  return globSync('**/SKILL.md', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.parentPath)
}

/** The directories that the specification profile calls valid. */
function validOf(directories: readonly string[]): string[] {
  return directories.filter((directory) => {
    const path = join(directory, 'SKILL.md')
    return validateSkill(readFileSync(path), { path, directoryName: basename(directory) }).valid
  })
}

describe('the validator that the skill creating-skills carries', () => {
  const judgesAlike = (folder: string): void => {
    const directories = skillDirectories(folder)
    const verdicts = run(...directories).stdout.split('\n')
    const valid = directories.filter((directory) => verdicts.includes(`${directory}: valid`))
    expect(directories.length).toBeGreaterThan(20)
    expect(valid).toEqual(validOf(directories))
  }

  it('judges every fixture as the spec profile does', () => judgesAlike(fixtures))

  it.skipIf(corpusFolder === undefined)(
    'judges published skills as the spec profile does (skipped without SKILLRAIL_CORPUS)',
    () => judgesAlike(corpusFolder ?? ''),
  )

  it('runs from a copy of its one file, and through a link', () => {
    mkdirSync(join(root, 'good'))
    writeFileSync(join(root, 'good', 'SKILL.md'), '---\nname: good\ndescription: b\n---\n')
    expect(run('good')).toEqual({ status: 0, stdout: 'good: valid\n', stderr: '' })
    symlinkSync(script, join(root, 'linked.mjs'))
    const output = execFileSync(process.execPath, [join(root, 'linked.mjs'), join(root, 'good')])
    expect(output.toString()).toBe(`${join(root, 'good')}: valid\n`)
  })

  it('prints errors and warnings with their lines, and ends with 1 for an invalid skill', () => {
    mkdirSync(join(root, 'bad'))
    writeFileSync(join(root, 'bad', 'SKILL.md'), '---\nname: Bad\ndescription: to #b\n---\n')
    const { status, stdout } = run('bad')
    expect(status).toBe(1)
    expect(stdout).toContain('error in line 2')
    expect(stdout).toContain('warning in line 3')
    expect(stdout).not.toContain('valid\n')
  })

  it('ends with 2 without a directory, and for one that does not exist', () => {
    expect(run().status).toBe(2)
    expect(run('nowhere').status).toBe(2)
  })

  it('ends with 1 for a directory without a skill', () => {
    mkdirSync(join(root, 'empty'))
    expect(run('empty').status).toBe(1)
  })

  it('belongs to a valid skill without advice', () => {
    const path = join(shipped, 'SKILL.md')
    const options = { path, directoryName: 'creating-skills', files: listSkillFiles(dirname(path)) }
    const text = readFileSync(path, 'utf8')
    expect(validateSkill(text, options).diagnostics).toEqual([])
    expect(validateReference(text, options).diagnostics).toEqual([])
  })
})
