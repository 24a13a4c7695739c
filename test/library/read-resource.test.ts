import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SkillManager, defineSkill } from '../../src/library/manager.ts'
import { listResources, listSkillFiles, readSkillResource } from '../../src/library/skill-files.ts'
import { skillAt } from '../../src/library/find-skill.ts'
import { SkillLoadError } from '../../src/skill/errors.ts'
import { type Fixture, fixture } from './_fixture.ts'

function skillWithFiles(): { place: Fixture; directory: string } {
  const place = fixture()
  const directory = place.skill('s/a')
  place.write({
    's/a/references/guide.md': 'Guide.',
    's/a/scripts/run.sh': '#!/bin/sh\n',
    'secret.txt': 'secret',
  })
  return { place, directory }
}

it('reads a file of the skill', () => {
  const { place, directory } = skillWithFiles()
  const info = skillAt(directory, { runtime: place.runtime })
  expect(readSkillResource(info, 'references/guide.md')).toEqual({
    path: 'references/guide.md',
    text: 'Guide.',
    size: 6,
  })
})

describe('a resource', () => {
  const cases: readonly [string, string, string, (place: Fixture, directory: string) => void][] = [
    ['a way out', '../../secret.txt', 'path-escapes', () => undefined],
    ['an absolute path', '/etc/hostname', 'path-absolute', () => undefined],
    ['a backslash', 'references\\guide.md', 'path-escapes', () => undefined],
    ['a NUL', 'a\0b', 'path-nul', () => undefined],
    ['a file that is not there', 'references/no.md', 'path-missing', () => undefined],
    ['a directory', 'references', 'path-not-regular', () => undefined],
    [
      'a link to a file outside',
      'link.txt',
      'path-escapes',
      ({ root }, directory) => symlinkSync(join(root, 'secret.txt'), join(directory, 'link.txt')),
    ],
    [
      'a way through a linked directory',
      'out/secret.txt',
      'path-escapes',
      ({ root }, directory) => symlinkSync(root, join(directory, 'out')),
    ],
    [
      'a named pipe',
      'pipe',
      'path-not-regular',
      (_place, directory) => void execFileSync('mkfifo', [join(directory, 'pipe')]),
    ],
    [
      'what is too large',
      'large.txt',
      'file-too-large',
      (_place, directory) =>
        writeFileSync(join(directory, 'large.txt'), Buffer.alloc(1024 * 1024 + 1, 'x')),
    ],
    [
      'what is not text',
      'image.png',
      'file-not-utf8',
      (_place, directory) => writeFileSync(join(directory, 'image.png'), Buffer.from([0xff])),
    ],
  ]
  it.each(cases)('refuses to read %s', async (_case, path, code, prepare) => {
    const { place, directory } = skillWithFiles()
    prepare(place, directory)
    const skills = new SkillManager({ runtime: place.runtime })
    await skills.register(directory)
    const error = await skills.readResource('a', path).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SkillLoadError)
    expect(error).toMatchObject({ code })
  })

  it('reads no file of a skill without a directory', () => {
    const { info } = defineSkill({ name: 'a', description: 'D.', body: '' })
    expect(() => readSkillResource(info, 'x')).toThrow('exists only in code')
  })
})

describe('the files of a skill', () => {
  it('are listed with sizes and run bits, in code-point order', () => {
    const { directory } = skillWithFiles()
    execFileSync('chmod', ['+x', join(directory, 'scripts/run.sh')])
    expect(
      listSkillFiles(directory).map(({ path, size, executable }) => [path, size, executable]),
    ).toEqual([
      ['SKILL.md', expect.any(Number), false],
      ['references/guide.md', 6, false],
      ['scripts/run.sh', 10, true],
    ])
  })

  it('leave out links to outside, pipes, circles, .git and node_modules', () => {
    const { place, directory } = skillWithFiles()
    place.write({ 's/a/.git/x': '', 's/a/node_modules/y': '' })
    symlinkSync(join(place.root, 'secret.txt'), join(directory, 'out.txt'))
    symlinkSync('..', join(directory, 'references/up'))
    symlinkSync('gone', join(directory, 'gone.txt'))
    symlinkSync('references/guide.md', join(directory, 'inside.md'))
    execFileSync('mkfifo', [join(directory, 'pipe')])
    expect(listSkillFiles(directory).map(({ path }) => path)).toEqual([
      'SKILL.md',
      'inside.md',
      'references/guide.md',
      'scripts/run.sh',
    ])
  })

  it('leave out the SKILL.md and other skills in a list of resources', () => {
    const { place, directory } = skillWithFiles()
    place.skill('s/a/step')
    place.write({ 's/a/step/scripts/x.sh': '' })
    expect(listResources(directory).files.map(({ path }) => path)).toEqual([
      'references/guide.md',
      'scripts/run.sh',
    ])
  })

  it('are limited in a list of resources, without the deepest first', () => {
    const { place, directory } = skillWithFiles()
    for (let index = 0; index < 10; index++) place.write({ [`s/a/references/deep/${index}`]: '' })
    const { files, truncated } = listResources(directory, 4)
    expect(truncated).toBe(true)
    expect(files.slice(2).map(({ path }) => path)).toContain('references/guide.md')
    expect(files).toHaveLength(4)
    expect(listResources(directory, 12)).toMatchObject({ truncated: false })
  })

  it('are empty for a missing directory', () => {
    expect(listSkillFiles('/no/such/directory')).toEqual([])
    mkdirSync(join(fixture().root, 'x'))
  })
})
