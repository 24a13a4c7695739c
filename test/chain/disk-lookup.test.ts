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
    ['an empty one', '', { 'scripts/run.py': '' }, ['scripts/run.py']],
    ['a large one', '', { 'scripts/run': large }, ['scripts/run']],
    [
      'two',
      '',
      { 'scripts/run': small, 'scripts/verify': large },
      ['scripts/run', 'scripts/verify'],
    ],
    [
      'two the other way',
      '',
      { 'scripts/run': large, 'scripts/verify.py': 'x' },
      ['scripts/run', 'scripts/verify.py'],
    ],
    [
      'what it names',
      'run: scripts/go\n',
      { 'scripts/go': small, 'scripts/run': 'x' },
      ['scripts/go'],
    ],
    ['one for both', 'run: scripts/verify\n', { 'scripts/verify': small }, ['scripts/verify']],
    ['itself', 'run: SKILL.md\n', {}, []],
    ['a name of every object', 'run: constructor\n', { constructor: small }, ['constructor']],
    [
      'steps',
      'metadata:\n  chain: [other]\nrun: scripts/run\n',
      { 'scripts/run': small, 'scripts/verify': small },
      ['scripts/verify'],
    ],
  ])('is that of its text and of %s', (_what, fields, files, digested) => {
    write('work/SKILL.md', document(fields))
    for (const [path, text] of Object.entries(files)) write(`work/${path}`, text)
    const directory = join(project, 'work')
    const expected = skillDigest(directory, ['SKILL.md', ...digested])
    // Once with the contents that were read to plan, once with what is known of the files by then.
    expect([factsOf(directory)?.digest, factsOf(directory)?.digest]).toEqual([expected, expected])
  })

  it('is that of what a link in the skill leads to', () => {
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
  ])('in %s as %s is %s', (root, name, real) => {
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
  ])('in %s as %s is refused', (root, name) => {
    const refused = { ok: false, code: 'step-escapes' }
    expect(resolveStep(join(project, root, 'chain'), name)).toMatchObject(refused)
  })
})

it.each([
  ['reaal', 'Did you mean real? '],
  ['deep/unnit', 'Did you mean deep/unit? '],
  ['chian', ''],
  ['nothing-like-it', ''],
])('suggests for %s: %j', (name, suggestion) => {
  for (const skill of ['chain', 'real', 'deep/unit']) {
    write(`skills/${skill}/SKILL.md`, document())
  }
  const resolution = resolveStep(join(project, 'skills/chain'), name)
  expect(resolution).toMatchObject({
    code: 'step-missing',
    hint: `${suggestion}A chain calls skills beside it and deeper.`,
  })
})
