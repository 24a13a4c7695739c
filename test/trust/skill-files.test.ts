import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import type { ActingPart } from '../../src/trust/model.ts'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { skillIn, temporaryDirectory, writeFiles } from './_project.ts'

function partsOf(directory: string, options: { text?: boolean } = {}): ActingPart[] {
  return collectSkillParts(directory, skillIn(directory), options)
}

function namesOf(directory: string, options: { text?: boolean } = {}): string[] {
  return partsOf(directory, options).map(({ kind, path }) => `${kind} ${path}`)
}

const mib = 1024 * 1024
const onLinux = process.platform === 'linux'

describe('a file of a skill', () => {
  it('is recorded by its content, and a link also by its target', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'scripts/run.sh': 'echo\n', 'references/a.md': '#!/bin/sh\n' })
    symlinkSync('nowhere', join(directory, 'lost'))
    symlinkSync('references/a.md', join(directory, 'near'))
    const base = { owner: '', skill: 'deploy', kind: 'script' }
    const link = { ...base, size: 0 }
    expect(partsOf(directory, { text: true })).toEqual([
      { ...link, path: 'lost', digest: `link-${sha256('nowhere\0')}`, link: 'nowhere' },
      {
        ...link,
        path: 'near',
        digest: `link-${sha256(`references/a.md\0${sha256('#!/bin/sh\n')}`)}`,
        link: 'references/a.md',
      },
      {
        ...base,
        kind: 'text',
        path: 'references/a.md',
        digest: sha256('#!/bin/sh\n'),
        size: 10,
        text: '#!/bin/sh\n',
      },
      {
        ...base,
        path: 'scripts/run.sh',
        digest: sha256('echo\n'),
        size: 5,
        text: 'echo\n',
        interpreter: 'sh',
      },
    ])
  })

  it.each([
    ['empty', Buffer.alloc(0), ''],
    ['of 64 KiB', Buffer.alloc(64 * 1024, 'a'), 'a'.repeat(64 * 1024)],
    ['longer than 64 KiB', Buffer.alloc(64 * 1024 + 1, 'a'), undefined],
    ['in several pieces', Buffer.alloc(700_000, 'abc'), undefined],
    ['no UTF-8', Buffer.from([0x61, 0xff]), undefined],
    ['with a NUL', Buffer.from('a\0b'), undefined],
  ])(
    'has a digest of all its content if it is %s, and its text if that is printable',
    (_, bytes, text) => {
      const directory = temporaryDirectory()
      mkdirSync(join(directory, 'scripts'))
      writeFileSync(join(directory, 'scripts/a'), bytes)
      const [part] = partsOf(directory)
      expect([part?.digest, part?.size, part?.text]).toEqual([sha256(bytes), bytes.length, text])
    },
  )

  it.each([
    ['#!/bin/sh\n', 'sh'],
    ['#! /usr/bin/python3 -u\n', 'python3'],
    ['#!/usr/bin/env my-tool\n', 'my-tool'],
    ['#!/usr/bin/env  -i  A=b  deno run\n', 'deno'],
    ['#!/usr/bin/env\n', undefined],
    ['x #!/bin/sh\n', undefined],
    ['#!\n', undefined],
    [`#!/bin/bash\n${'x'.repeat(70_000)}`, 'bash'],
  ])('runs with the interpreter of its first line: %j gives %s', (content, interpreter) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'scripts/a': content })
    expect(partsOf(directory)[0]?.interpreter).toBe(interpreter)
  })

  it.each([
    [(target: string, content: string) => `link ${target}\n${content}`],
    [(target: string, content: string) => `${target}\0${content}`],
  ])('never has the digest of a link, whatever it contains', (textOf) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'references/a.md': 'text' })
    mkdirSync(join(directory, 'scripts'))
    const place = join(directory, 'scripts/a')
    symlinkSync('../references/a.md', place)
    const before = partsOf(directory)[0]
    rmSync(place)
    writeFileSync(place, textOf('../references/a.md', sha256('text')))
    const after = partsOf(directory)[0]
    expect(after?.path).toBe(before?.path)
    expect(after?.digest).not.toBe(before?.digest)
  })

  it('counts below nested .git and node_modules folders', () => {
    const workspace = temporaryDirectory()
    const own = join(workspace, 'skill')
    writeFiles(own, {
      '.git/go.sh': '',
      'scripts/.git/lib': '',
      'node_modules/a/index.js': '',
      'a/.git/notes.txt': '',
    })
    const parts = collectSkillParts(workspace, skillIn(own, { run: '.git/go.sh' }))
    expect(parts.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'script skill/.git/go.sh',
      'run skill/SKILL.md',
      'script skill/node_modules/a/index.js',
      'script skill/scripts/.git/lib',
    ])
    const all = collectSkillParts(workspace, skillIn(own), { text: true })
    expect(all.map(({ path }) => path)).toContain('skill/a/.git/notes.txt')
  })

  it("is left out in the workspace's own .git, and refused if the skill runs it", () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { '.git/hooks/pre-commit': '#!/bin/sh\n', 'a/.git/run.sh': '' })
    expect(namesOf(directory, { text: true })).toEqual(['script a/.git/run.sh'])
    symlinkSync('.git', join(directory, 'way'))
    for (const run of ['.git/hooks/pre-commit', 'way/hooks/pre-commit', 'a/../.git/none']) {
      const parts = collectSkillParts(directory, skillIn(directory, { run }))
      expect(parts).toContainEqual(
        expect.objectContaining({
          digest: 'unreadable',
          problem: 'is run by the skill, but is in a place that cannot be verified',
        }),
      )
    }
  })

  it('acts below scripts in any case, and not below a folder whose name only contains the word', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'Scripts/a.md': '', 'my-scripts/b.md': '', 'x/scripts/c.md': '' })
    expect(namesOf(directory)).toEqual(['script Scripts/a.md'])
  })

  it('is closed after it was read', { skip: !onLinux }, () => {
    const directory = temporaryDirectory()
    const many = Array.from({ length: 100 }, (_, index) => [`scripts/${index}`, 'x'.repeat(70_000)])
    writeFiles(directory, Object.fromEntries(many))
    const before = readdirSync('/proc/self/fd').length
    expect(partsOf(directory)).toHaveLength(100)
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 50)
  })
})

describe('an entry that cannot be verified', () => {
  const refused = { kind: 'script', digest: 'unreadable', size: 0 }

  it(
    'is a pipe in scripts or behind a link; a pipe elsewhere is ignored',
    { skip: !onLinux },
    () => {
      const directory = temporaryDirectory()
      writeFiles(directory, { 'scripts/a': '' })
      execFileSync('mkfifo', [join(directory, 'pipe')])
      expect(namesOf(directory)).toEqual(['script scripts/a'])
      symlinkSync('pipe', join(directory, 'link'))
      expect(partsOf(directory)[0]).toMatchObject({
        ...refused,
        path: 'link',
        problem: 'cannot be read: it is not a regular file',
      })
      expect(partsOf(directory, { text: true })).toMatchObject([
        { path: 'link', problem: 'cannot be read: it is not a regular file' },
        { ...refused, path: 'pipe', problem: 'cannot be read: it is not a regular file' },
        { path: 'scripts/a' },
      ])
    },
  )

  it('is a name that is not UTF-8, beside a name that looks the same', { skip: !onLinux }, () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'scripts/a\uFFFD': 'harmless' })
    expect(partsOf(directory)).toMatchObject([{ digest: sha256('harmless') }])
    for (const name of ['a', 'scripts/a']) {
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/${name}`), Buffer.of(0xff)]), '')
    }
    const refusals = partsOf(directory).filter(({ digest }) => digest === 'unreadable')
    const problem = 'has a name that is not UTF-8'
    expect(refusals).toMatchObject([
      { ...refused, path: 'a\uFFFD', problem },
      { ...refused, path: 'scripts/a\uFFFD', problem },
    ])
  })

  it('is a link whose target is not UTF-8', { skip: !onLinux }, () => {
    const directory = temporaryDirectory()
    symlinkSync(Buffer.from([0x2e, 0x2e, 0x2f, 0xff]), join(directory, 'a'))
    expect(partsOf(directory)).toMatchObject([
      { ...refused, path: 'a', problem: 'is a link whose target is not UTF-8' },
    ])
  })

  it(
    'is a skill whose own directory is a link to a name that is not UTF-8',
    { skip: !onLinux },
    () => {
      const workspace = temporaryDirectory()
      writeFiles(workspace, { '\uFFFD/scripts/a': 'harmless' })
      mkdirSync(Buffer.concat([Buffer.from(`${workspace}/`), Buffer.of(0xff)]))
      symlinkSync(Buffer.of(0xff), join(workspace, 'skill'))
      expect(collectSkillParts(workspace, skillIn(join(workspace, 'skill')))).toEqual([])
    },
  )

  it('is a file of more than 64 MiB, even a sparse one', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'scripts/a': '', 'scripts/b': '' })
    truncateSync(join(directory, 'scripts/a'), 64 * mib + 1)
    expect(partsOf(directory)).toMatchObject([
      {
        ...refused,
        path: 'scripts/a',
        problem: 'is too large to vouch for: more than 64 MiB',
      },
      { path: 'scripts/b', digest: sha256('') },
    ])
    truncateSync(join(directory, 'scripts/a'), 2 ** 40)
    expect(partsOf(directory)[0]).toMatchObject(refused)
  })

  it('is a skill of more than 256 MiB, including its links', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'scripts/a': '' })
    truncateSync(join(directory, 'scripts/a'), 64 * mib)
    for (const name of ['b', 'c', 'd']) symlinkSync('a', join(directory, 'scripts', name))
    expect(partsOf(directory).filter(({ digest }) => digest === 'unreadable')).toEqual([])
    writeFiles(directory, { 'scripts/e': 'x', 'scripts/f': 'x' })
    expect(partsOf(directory).slice(4)).toMatchObject([
      {
        ...refused,
        path: 'scripts/e',
        problem: 'is too large to vouch for: with it the skill has more than 256 MiB',
      },
    ])
  })

  it('is a directory that is gone', () => {
    const workspace = temporaryDirectory()
    const gone = { ...skillIn(join(workspace, 'gone')), realDirectory: join(workspace, 'gone') }
    expect(collectSkillParts(workspace, gone)).toMatchObject([
      { ...refused, owner: 'gone', path: 'gone', problem: 'cannot be listed' },
    ])
  })

  it('is a directory that cannot be listed', { skip: process.getuid?.() === 0 }, () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'closed'), { mode: 0o000 })
    const parts = partsOf(directory)
    chmodSync(join(directory, 'closed'), 0o700)
    expect(parts).toMatchObject([{ ...refused, path: 'closed', problem: 'cannot be listed' }])
  })

  it('is a path that is too long to be opened', { skip: !onLinux }, () => {
    const directory = temporaryDirectory()
    const deep = Array(9).fill('d'.repeat(250)).join('/')
    for (const half of ['a', 'b']) mkdirSync(join(directory, half, deep), { recursive: true })
    const end = join(directory, 'a', deep, 'b')
    renameSync(join(directory, 'b'), end)
    try {
      const [part] = partsOf(directory)
      expect(part).toMatchObject({ ...refused, problem: 'cannot be read: ENAMETOOLONG' })
      expect(part?.path.startsWith('a/ddd')).toBe(true)
    } finally {
      renameSync(end, join(directory, 'b'))
    }
  })
})

describe('links between the folders of a skill', () => {
  it('are followed once, wherever they lead back to', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'a/b/run.sh': '', 'c/run.sh': '' })
    symlinkSync('..', join(directory, 'a/b/up'))
    symlinkSync('../c', join(directory, 'a/over'))
    symlinkSync('../a', join(directory, 'c/back'))
    const paths = namesOf(directory)
    expect(paths).toContain('script a/b/up')
    expect(paths).toContain('script a/over/run.sh')
    expect(paths).toContain('script c/back/b/run.sh')
    expect(paths.filter((path) => path.includes('up/'))).toEqual([])
    expect(paths.filter((path) => path.includes('over/back/'))).toEqual([])
  })
})

/** None of these is code by its name, its mode or its first line. */
const loadedFiles = {
  common: 'greet() { echo; }\n',
  Makefile: 'all:\n\techo\n',
  'lib/Foo.pm': 'package Foo; 1;\n',
  'package.json': '{"main":"x.js"}',
  'config/settings.yaml': 'a: 1\n',
  'templates/page.html': '<p>\n',
  'requirements.txt': 'left-pad\n',
  LICENSE: 'MIT\n',
}
const proseFiles = { 'SKILL.md': '---\n', 'docs/guide.md': '# Guide\n', 'logo.svg': '<svg/>' }

describe('a file that a script can load', () => {
  it.each([
    ['below scripts', { 'scripts/run.sh': '. ./common\n' }, {}],
    ['elsewhere', { 'tool.py': 'import json\n' }, {}],
    ['that a hook starts', {}, { hooks: { Stop: [{ hooks: [{ command: 'make all' }] }] } }],
    ['that allowed-tools permits', {}, { allowedTools: [{ tool: 'Bash', pattern: 'make' }] }],
  ] as const)('acts in a skill with a script %s, and prose does not', (_, script, fields) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { ...loadedFiles, ...proseFiles, ...script })
    const parts = collectSkillParts(directory, skillIn(directory, fields))
    const scripts = parts.filter(({ kind }) => kind === 'script').map(({ path }) => path)
    expect(scripts.toSorted()).toEqual(
      [...Object.keys(loadedFiles), ...Object.keys(script)].toSorted(),
    )
  })

  it('is text in a skill without a script', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { ...loadedFiles, ...proseFiles })
    expect(namesOf(directory)).toEqual([])
    expect(namesOf(directory, { text: true })).toHaveLength(11)
  })
})
