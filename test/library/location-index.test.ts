import { spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { readCache, writeCache } from '../../src/core/derived-cache.ts'
import type { Discovery } from '../../src/library/model.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { cacheVersion } from '../../src/library/scan-location.ts'
import { skillText, type Fixture, fixture } from './_fixture.ts'

/** Later than every file that a test writes: what was read is settled, and remembered. */
const later = (): number => Date.now() + 60_000

/** A project with more skills than are worth an index. */
function manySkills(count = 40): Fixture {
  const place = fixture({ now: later })
  for (let index = 0; index < count; index++) {
    place.skill(`project/.claude/skills/skill-${String(index).padStart(3, '0')}`)
  }
  return place
}

const warm = ({ runtime }: Fixture): Discovery => discoverSkills({ runtime })
const cold = ({ runtime }: Fixture): Discovery => discoverSkills({ runtime, useIndex: false })

function indexFile({ home }: Fixture): string {
  const directory = join(home, '.cache/skillrail/library')
  const [name = ''] = readdirSync(directory)
  return join(directory, name)
}

/** Changes the rows of a cache as nobody but the program itself can: with the right checksum. */
function rewrite(file: string, change: (rows: string) => string): void {
  const rows = JSON.stringify(readCache<unknown>(file, cacheVersion, undefined))
  writeCache(file, cacheVersion, JSON.parse(change(rows)))
}

it('does not change the result', () => {
  const place = manySkills()
  place.write({
    'project/.claude/skills/rich/SKILL.md': skillText('rich', {
      name: 'other',
      more: [
        'license: MIT',
        'compatibility: Requires git',
        'allowed-tools: Bash(git:*) Read',
        'model: a:b',
        'context: fork',
        'agent: helper',
        'disable-model-invocation: true',
        'user-invocable: false',
        'argument-hint: "[x]"',
        'arguments: one two',
        'run: scripts/go.sh',
        'hooks:\n  Stop:\n    - command: echo',
        'triggers:\n  - match: "^/rich"\n    inject: references/a.md',
        'metadata:\n  chain: b c\n  timeout: "5"\n  gates: c\n  author: me',
      ].join('\n'),
    }),
    'project/.claude/skills/bad/SKILL.md': 'nothing',
    'project/.claude/skills/unnamed/SKILL.md': '---\ndescription: D.\n---\n',
  })
  const expected = cold(place)
  expect(expected.skills.find(({ name }) => name === 'other')?.fields).toMatchObject({
    chain: { steps: [{ name: 'b' }, { name: 'c' }], gates: ['c'] },
    triggers: [{ inject: 'references/a.md' }],
    hooks: { Stop: [{ command: 'echo' }] },
  })
  expect(warm(place)).toEqual(expected)
  expect(readFileSync(indexFile(place), 'utf8')).toContain('"other"')
  expect(warm(place)).toEqual(expected)
})

it('is not written for a few skills', () => {
  const place = fixture({ now: later })
  place.skill('project/.claude/skills/a')
  warm(place)
  expect(() => indexFile(place)).toThrow('ENOENT')
})

it('is read in place of the files', () => {
  const place = manySkills()
  warm(place)
  const file = indexFile(place)
  rewrite(file, (rows) => rows.replaceAll('Does skill-003', 'Remembers 3'))
  expect(warm(place).skills[3]?.description).toBe('Remembers 3. Use when asked for skill-003.')
})

describe('the index after a change', () => {
  const skills = 'project/.claude/skills'
  const changes: readonly [string, (place: Fixture) => void][] = [
    ['a new skill', (place) => place.skill(`${skills}/new`)],
    [
      'a skill that is gone',
      ({ root }) => rmSync(join(root, skills, 'skill-003'), { recursive: true }),
    ],
    ['a file that is gone', ({ root }) => rmSync(join(root, skills, 'skill-003/SKILL.md'))],
    ['other text', (place) => place.skill(`${skills}/skill-003`, { description: 'New.' })],
    [
      'text of the same length',
      (place) =>
        place.skill(`${skills}/skill-003`, {
          description: 'Does skill-999. Use when asked for skill-003.',
        }),
    ],
    [
      'text of the same length, with its time put back',
      (place) => {
        const path = join(place.root, skills, 'skill-003/SKILL.md')
        const text = readFileSync(path, 'utf8')
        writeFileSync(path, text.replace('Does', 'Done'))
        utimesSync(path, new Date(0), new Date(0))
      },
    ],
    [
      'a renamed directory',
      ({ root }) => renameSync(join(root, skills, 'skill-003'), join(root, skills, 'z')),
    ],
    [
      'a file that became a directory',
      ({ root }) => {
        rmSync(join(root, skills, 'skill-003/SKILL.md'))
        mkdirSync(join(root, skills, 'skill-003/SKILL.md'))
      },
    ],
    [
      'a directory that became a link',
      (place) => {
        place.skill('elsewhere/skill-003', { description: 'Elsewhere.' })
        rmSync(join(place.root, skills, 'skill-003'), { recursive: true })
        symlinkSync(join(place.root, 'elsewhere/skill-003'), join(place.root, skills, 'skill-003'))
      },
    ],
    [
      'a skill that became a chain, with a step inside',
      (place) => {
        place.skill(`${skills}/skill-003/step`)
        place.skill(`${skills}/skill-003`, { more: 'metadata:\n  chain: step' })
      },
    ],
    [
      'SKILL.md beside skill.md',
      (place) =>
        place.write({ [`${skills}/small/SKILL.md`]: skillText('small', { description: 'Big.' }) }),
    ],
  ]

  it.each(changes)('notices %s', (_case, change) => {
    const place = manySkills()
    place.write({ [`${skills}/small/skill.md`]: skillText('small') })
    warm(place)
    expect(warm(place)).toEqual(cold(place))
    const before = cold(place)
    change(place)
    const after = cold(place)
    expect(after).not.toEqual(before)
    expect(warm(place)).toEqual(after)
    expect(warm(place)).toEqual(after)
  })

  it('notices any number of changes in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(changes.length - 2), fc.boolean()), { maxLength: 5 }),
        (steps) => {
          const place = manySkills()
          place.write({ [`${skills}/small/skill.md`]: skillText('small') })
          for (const [step, search] of steps) {
            try {
              changes[step]?.[1](place)
            } catch {
              // An earlier change took away what this one wants to change.
            }
            if (search) warm(place)
          }
          expect(warm(place)).toEqual(cold(place))
        },
      ),
      { numRuns: 15 },
    )
  })
})

it('does not trust rows of files that changed during the scan', () => {
  const place = manySkills()
  place.runtime.now = () => Date.now()
  warm(place)
  const file = indexFile(place)
  rewrite(file, (rows) => rows.replaceAll('Does skill-003', 'Remembers 3'))
  expect(warm(place)).toEqual(cold(place))
})

describe('a damaged index', () => {
  const files: readonly [string, (text: string) => string][] = [
    ['when it is empty', () => ''],
    ['when it is cut off', (text) => text.slice(0, 900)],
    ['when it is not JSON', () => 'nonsense'],
    ['when it is another document', () => '[1, 2]'],
    [
      'when it is of another version',
      (text) => text.replace(`"version":"${cacheVersion}"`, '"version":"1"'),
    ],
    [
      'when another engine wrote it',
      (text) => text.replace(/"skillrail":"[^"]*"/, '"skillrail":""'),
    ],
    ['when a row is missing', (text) => text.replace(/,\{"key":"skill-007".*?\}(?=,\{"key)/, '')],
    ['when a row was changed', (text) => text.replace('Does skill-003', 'Does skill-004')],
  ]
  it.each(files)('is rebuilt %s', (_case, damage) => {
    const place = manySkills()
    const expected = cold(place)
    warm(place)
    const file = indexFile(place)
    const whole = readFileSync(file, 'utf8')
    const damaged = damage(whole)
    expect(damaged).not.toBe(whole)
    writeFileSync(file, damaged)
    expect(warm(place)).toEqual(expected)
    expect(warm(place)).toEqual(expected)
  })
})

it('is optional: a cache that cannot be written changes nothing', () => {
  const place = manySkills()
  writeFileSync(join(place.home, '.cache'), 'a file where a directory should be')
  expect(warm(place)).toEqual(cold(place))
  chmodSync(place.home, 0o755)
})

it('stays whole with many concurrent processes', async () => {
  const place = manySkills(60)
  const script = `
    import { discoverSkills } from ${JSON.stringify(new URL('../../src/library/discover.ts', import.meta.url).href)}
    import { systemRuntime } from ${JSON.stringify(new URL('../../src/core/runtime.ts', import.meta.url).href)}
    const [cwd, home] = process.argv.slice(1)
    for (let times = 0; times < 5; times++) {
      const now = () => Date.now() + 60000 - 50 * times
      const { skills } = discoverSkills({ runtime: systemRuntime({ cwd, home, env: {}, now }) })
      if (skills.length !== 60) process.exit(1)
    }
  `
  const codes = await Promise.all(
    Array.from(
      { length: 6 },
      () =>
        new Promise((resolve) => {
          spawn(
            process.execPath,
            ['--input-type=module', '-e', script, place.project, place.home],
            { stdio: 'ignore' },
          ).on('close', resolve)
        }),
    ),
  )
  expect(codes).toEqual([0, 0, 0, 0, 0, 0])
  expect(warm(place)).toEqual(cold(place))
  expect(readdirSync(join(place.home, '.cache/skillrail/library'))).toHaveLength(1)
})
