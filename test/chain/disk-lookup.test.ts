import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDiskLookup, resolveStep, skillDigest } from '../../src/chain/lookup.ts'

let project: string
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-lookup-')))
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), text, { mode: 0o755 })
}

const document = (more = ''): string => `---\nname: work\ndescription: Works.\n${more}---\nDo it.\n`

const factsOf = (directory: string) =>
  createDiskLookup({
    workspace: project,
    trustOf: () => ({ level: 'trusted', reason: 'it is a test' }),
  }).load(directory).facts

describe('the digest of a skill in a plan', () => {
  const small = '#!/bin/sh\necho small\n'
  const large = small.padEnd(16_385, '# more\n')

  it.each([
    ['a script', '', { 'scripts/run': small }, ['scripts/run']],
    ['an empty script', '', { 'scripts/run.py': '' }, ['scripts/run.py']],
    ['a large script', '', { 'scripts/run': large }, ['scripts/run']],
    [
      'two scripts',
      '',
      { 'scripts/run': small, 'scripts/verify': large },
      ['scripts/run', 'scripts/verify'],
    ],
    [
      'two scripts, the first one large',
      '',
      { 'scripts/run': large, 'scripts/verify.py': 'x' },
      ['scripts/run', 'scripts/verify.py'],
    ],
    [
      'the script that it names',
      'run: scripts/go\n',
      { 'scripts/go': small, 'scripts/run': 'x' },
      ['scripts/go'],
    ],
    [
      'one script for both',
      'run: scripts/verify\n',
      { 'scripts/verify': small },
      ['scripts/verify'],
    ],
    ['its text as the script', 'run: SKILL.md\n', {}, []],
    [
      'a script with the name of a property',
      'run: constructor\n',
      { constructor: small },
      ['constructor'],
    ],
    [
      'the verification of a chain',
      'metadata:\n  chain: [other]\nrun: scripts/run\n',
      { 'scripts/run': small, 'scripts/verify': small },
      ['scripts/verify'],
    ],
  ])('covers its text and %s', (_what, fields, files, digested) => {
    write('work/SKILL.md', document(fields))
    for (const [path, text] of Object.entries(files)) write(`work/${path}`, text)
    const directory = join(project, 'work')
    const expected = skillDigest(directory, ['SKILL.md', ...digested])
    // The second lookup reads the files again.
    expect([factsOf(directory)?.digest, factsOf(directory)?.digest]).toEqual([expected, expected])
  })

  it('covers the target of a link in the skill', () => {
    write('work/SKILL.md', document())
    write('work/bin/go', small)
    mkdirSync(join(project, 'work/scripts'))
    symlinkSync('../bin/go', join(project, 'work/scripts/run'))
    const directory = join(project, 'work')
    expect(factsOf(directory)?.digest).toBe(skillDigest(directory, ['SKILL.md', 'scripts/run']))
  })
})

describe('a step that is reached through links', () => {
  beforeEach(() => {
    write('skills/chain/SKILL.md', document())
    write('skills/real/SKILL.md', document())
    write('outside/SKILL.md', document())
    symlinkSync('real', join(project, 'skills/inside'))
    symlinkSync('../outside', join(project, 'skills/out'))
    symlinkSync('..', join(project, 'skills/up'))
    symlinkSync('skills', join(project, 'linked'))
    for (const [name, target] of Object.entries({ near: '../real', far: '../../outside' })) {
      mkdirSync(join(project, 'skills', name))
      symlinkSync(`${target}/SKILL.md`, join(project, 'skills', name, 'SKILL.md'))
    }
  })

  it.each([
    ['skills', 'real', 'skills/real'],
    ['skills', 'inside', 'skills/real'],
    ['skills', 'up/skills/real', 'skills/real'],
    ['linked', 'real', 'skills/real'],
    ['linked', 'inside', 'skills/real'],
    ['skills', 'near', 'skills/near'],
    ['linked', 'near', 'skills/near'],
  ])('is found in %s as %s: %s', (root, name, real) => {
    const found = { ok: true, directory: join(project, real) }
    expect(resolveStep(join(project, root, 'chain'), name)).toEqual(found)
  })

  it.each([
    ['skills', 'out'],
    ['skills', 'up/outside'],
    ['linked', 'out'],
    ['linked', 'up/outside'],
    ['skills', 'far'],
    ['linked', 'far'],
  ])('is refused in %s as %s', (root, name) => {
    const refused = { ok: false, code: 'step-escapes' }
    expect(resolveStep(join(project, root, 'chain'), name)).toMatchObject(refused)
  })
})

it.each([
  ['reaal', 'Did you mean real? '],
  ['deep/unnit', 'Did you mean deep/unit? '],
  ['chian', ''],
  ['nothing-like-it', ''],
])('suggests a name for the missing step %s: %j', (name, suggestion) => {
  for (const skill of ['chain', 'real', 'deep/unit']) {
    write(`skills/${skill}/SKILL.md`, document())
  }
  const resolution = resolveStep(join(project, 'skills/chain'), name)
  expect(resolution).toMatchObject({
    code: 'step-missing',
    hint: `${suggestion}A chain calls skills beside it and deeper.`,
  })
})
