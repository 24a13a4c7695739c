import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import type { ChainDeclaration, SkillFields } from '../../src/skill/model.ts'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import { assessWorkspace } from '../../src/trust/skill-trust.ts'
import { collectActingParts, collectSkillParts } from '../../src/trust/acting-parts.ts'
import { skillIn, temporaryDirectory, writeFiles } from './_project.ts'

function filesOf(directory: string, run?: string, text = false): string[] {
  const parts = collectSkillParts(directory, skillIn(directory, { run }), { text })
  return parts.filter((part) => part.kind !== 'run').map((part) => `${part.kind} ${part.path}`)
}

function digests(directory: string): string[] {
  return collectSkillParts(directory, skillIn(directory)).map((part) => part.digest)
}

describe('the files of a skill that act', () => {
  it('are files below scripts, the file of run, and beside a script every file that is not prose', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, {
      'SKILL.md': 'body',
      'assets/logo.svg': '<svg/>',
      'assets/data.json': '{}',
      'lib/helper.py': 'print()',
      'lib/module.wasm': '\0asm',
      'bin/tool': 'no extension',
      'bin/plain': 'neither',
      'bin/hashbang': '#!/usr/bin/env -S python3 -u\n',
      'references/guide.md': '#!/bin/sh is how a script begins',
      'references/notes.txt': 'text',
      'scripts/data.csv': 'a,b',
      'scripts/nested/readme.md': 'text',
    })
    chmodSync(join(directory, 'bin/tool'), 0o755)
    chmodSync(join(directory, 'SKILL.md'), 0o777)
    expect(filesOf(directory, './references/notes.txt')).toEqual([
      'script assets/data.json',
      'script bin/hashbang',
      'script bin/plain',
      'script bin/tool',
      'script lib/helper.py',
      'script lib/module.wasm',
      'script references/notes.txt',
      'script scripts/data.csv',
      'script scripts/nested/readme.md',
    ])
    expect(filesOf(directory, undefined, true)).toContain('text SKILL.md')
    expect(filesOf(directory, undefined, true)).toContain('text references/guide.md')
  })

  it.each(['notes.md', './notes.md', 'scripts/../notes.md', 'link.md', 'folder/notes.md'])(
    'include prose if run names the file as %s',
    (run) => {
      const directory = temporaryDirectory()
      writeFiles(directory, { 'notes.md': '#!/bin/sh\n', 'scripts/a': '' })
      symlinkSync('notes.md', join(directory, 'link.md'))
      symlinkSync('.', join(directory, 'folder'))
      expect(filesOf(directory, run)).toContain('script notes.md')
      expect(filesOf(directory)).not.toContain('script notes.md')
    },
  )

  it.each([
    ['scripts/a', '#!/bin/bash\n', 'bash'],
    ['scripts/a', '#!/usr/bin/env -S FOO=1 node --flag\n', 'node'],
    ['scripts/a.py', 'print()\n', 'python3'],
    ['scripts/a.ts', '', 'node'],
    ['scripts/a', 'nothing\n', undefined],
    ['scripts/a.constructor', '', undefined],
  ])('have an interpreter: %s that begins with %j runs with %s', (path, content, interpreter) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { [path]: content })
    expect(collectSkillParts(directory, skillIn(directory))[0]?.interpreter).toBe(interpreter)
  })

  it('include every link, with its target inside the skill', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'real/run': 'one', 'references/a.md': 'one' })
    symlinkSync('real', join(directory, 'scripts'))
    symlinkSync('references/a.md', join(directory, 'tool'))
    symlinkSync('/etc/hostname', join(directory, 'outside'))
    symlinkSync('.', join(directory, 'loop'))
    const before = collectSkillParts(directory, skillIn(directory))
    expect(before.map((part) => `${part.path} ${part.link ?? ''}`)).toEqual([
      'loop .',
      'outside /etc/hostname',
      'real/run ',
      'scripts real',
      'scripts/run ',
      'tool references/a.md',
    ])
    writeFileSync(join(directory, 'real/run'), 'two')
    writeFileSync(join(directory, 'references/a.md'), 'two')
    const after = collectSkillParts(directory, skillIn(directory))
    const changed = after.filter((part, index) => part.digest !== before[index]?.digest)
    expect(changed.map((part) => part.path)).toEqual(['real/run', 'scripts/run', 'tool'])
  })

  it.runIf(process.platform !== 'win32')(
    'include pipes and devices, which are never accepted and never read',
    () => {
      const directory = temporaryDirectory()
      mkdirSync(join(directory, 'scripts'))
      execFileSync('mkfifo', [join(directory, 'scripts/pipe')])
      expect(collectSkillParts(directory, skillIn(directory))).toMatchObject([
        {
          path: 'scripts/pipe',
          digest: 'unreadable',
          problem: 'cannot be read: it is not a regular file',
        },
      ])
    },
  )

  it('include links that lead nowhere or outside, and record their targets', () => {
    const directory = temporaryDirectory()
    symlinkSync('nowhere', join(directory, 'a'))
    symlinkSync('/tmp', join(directory, 'scripts'))
    const other = temporaryDirectory()
    symlinkSync('elsewhere', join(other, 'a'))
    symlinkSync('/usr', join(other, 'scripts'))
    expect(filesOf(directory)).toEqual(['script a', 'script scripts'])
    expect(new Set([...digests(directory), ...digests(other)]).size).toBe(4)
  })

  it('may be binary and large', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'scripts'))
    const bytes = Buffer.alloc(1_000_000, 255)
    writeFileSync(join(directory, 'scripts/program'), bytes)
    const before = collectSkillParts(directory, skillIn(directory))
    expect(before).toMatchObject([{ size: 1_000_000, text: undefined }])
    bytes[999_999] = 0
    writeFileSync(join(directory, 'scripts/program'), bytes)
    expect(collectSkillParts(directory, skillIn(directory))[0]?.digest).not.toBe(before[0]?.digest)
  })

  it('are empty if the directory is gone', () => {
    expect(collectSkillParts('/w', skillIn('/w/.skillrail/skills/gone'))).toEqual([])
  })
})

describe('the fields of a skill that act', () => {
  const chain: ChainDeclaration = {
    steps: [
      { name: 'a', line: 7 },
      { name: 'b', line: 8 },
    ],
    gates: ['b'],
    line: 6,
    policy: defaultChainPolicy,
  }

  it.each<[string, Partial<SkillFields>, unknown]>([
    ['run', { run: 'scripts/a.sh' }, 'scripts/a.sh'],
    ['run', { run: 'a.sh', sandbox: true }, { run: 'a.sh', sandbox: true }],
    ['hooks', { hooks: { Stop: [] } }, { Stop: [] }],
    ['allowed-tools', { allowedTools: [{ tool: 'Read' }] }, [{ tool: 'Read' }]],
    ['chain', { chain }, { steps: ['a', 'b'], gates: ['b'], policy: defaultChainPolicy }],
    ['fork', { context: 'fork', agent: 'general' }, { context: 'fork', agent: 'general' }],
    ['fork', { context: 'fork' }, { context: 'fork' }],
  ])('are recorded with their value: %s %j', (kind, fields, value) => {
    const workspace = temporaryDirectory()
    const directory = join(workspace, 'skills/a')
    mkdirSync(directory, { recursive: true })
    const text = `${JSON.stringify(value, undefined, 2)}\n`
    expect(collectSkillParts(workspace, skillIn(directory, fields))).toEqual([
      {
        owner: 'skills/a',
        skill: 'deploy',
        path: 'skills/a/SKILL.md',
        kind,
        digest: sha256(text),
        size: 0,
        text,
      },
    ])
  })

  it.each<[Partial<SkillFields>]>([
    [{}],
    [{ agent: 'general' }],
    [{ context: undefined, agent: 'general', model: 'm' }],
    [{ arguments: ['a'], metadata: { a: 'b' } }],
  ])('do not include %j', (fields) => {
    const directory = temporaryDirectory()
    expect(collectSkillParts(directory, skillIn(directory, fields))).toEqual([])
  })

  it.each([
    ['SKILL.md', 'SKILL.md'],
    ['skill.md', 'skill.md'],
    [undefined, 'SKILL.md'],
  ])('have the path of the document %s', (name, path) => {
    const directory = temporaryDirectory()
    const skill = skillIn(directory, { run: 'a.sh' })
    const given = name === undefined ? skill : { ...skill, path: join(directory, name) }
    expect(collectSkillParts(directory, given).map((part) => part.path)).toEqual([path])
  })
})

describe('the parts of a workspace', () => {
  it('do not include a skill that is gone', () => {
    const workspace = temporaryDirectory()
    expect(collectActingParts(workspace, [skillIn(join(workspace, 'gone'))])).toEqual([])
  })

  it('never equal the accepted parts if they cannot be read', () => {
    const workspace = temporaryDirectory()
    symlinkSync('nowhere', join(workspace, '.mcp.json'))
    const parts = collectActingParts(workspace, [])
    const accepted = { workspace, acceptedAt: '', pinned: false, parts }
    expect(assessWorkspace(accepted, parts)).toMatchObject({
      state: 'changed',
      changes: [{ change: 'changed', part: { path: '.mcp.json' } }],
    })
  })

  it('are its configuration and the parts of every skill, each once, in a fixed order', () => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, {
      '.mcp.json': '{"mcpServers":{"a":{"command":"x"}}}',
      '.claude/settings.json': '{"model":"m","hooks":{"Stop":[]}}',
      '.claude/settings.local.json': '{"permissions":{}}',
      '.gemini/settings.json': 'not JSON',
      '.cursor': 'a file where a directory is looked for',
      '.skillrail/workflows.json': '{}',
      '.agents/skills/b/scripts/run.sh': 'b',
      '.agents/skills/a/scripts/run.sh': 'a',
    })
    mkdirSync(join(workspace, '.claude/skills'), { recursive: true })
    symlinkSync('../../.agents/skills/a', join(workspace, '.claude/skills/a'))
    const skills = ['.claude/skills/a', '.agents/skills/b', '.agents/skills/a'].map((path) =>
      skillIn(join(workspace, path), { allowedTools: [{ tool: 'Read' }] }),
    )
    expect(
      collectActingParts(workspace, skills).map((part) => `${part.kind} ${part.path}`),
    ).toEqual([
      'client-hooks .claude/settings.json',
      'client-hooks .gemini/settings.json',
      'mcp .gemini/settings.json',
      'mcp .mcp.json',
      'workflow .skillrail/workflows.json',
      'skill .agents/skills/a',
      'allowed-tools .agents/skills/a/SKILL.md',
      'script .agents/skills/a/scripts/run.sh',
      'skill .agents/skills/b',
      'allowed-tools .agents/skills/b/SKILL.md',
      'script .agents/skills/b/scripts/run.sh',
    ])
  })

  it('do not change when a setting that does not act changes', () => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, { '.claude/settings.json': '{"model":"m","hooks":{"Stop":[]}}' })
    const before = collectActingParts(workspace, [])
    writeFiles(workspace, { '.claude/settings.json': '{ "hooks": {"Stop":[]}, "model": "n" }' })
    const accepted = { workspace, acceptedAt: '', pinned: false, parts: before }
    expect(assessWorkspace(accepted, collectActingParts(workspace, [])).state).toBe('trusted')
    writeFiles(workspace, { '.claude/settings.json': '{"hooks":{"Stop":[1]}}' })
    expect(assessWorkspace(accepted, collectActingParts(workspace, [])).state).toBe('changed')
  })

  it('differ from the acceptance by additions, removals and changes', () => {
    const workspace = temporaryDirectory()
    const directory = join(workspace, '.skillrail/skills/a')
    writeFiles(directory, { 'scripts/gone': '1', 'scripts/kept': '1', 'scripts/edited': '1' })
    const parts = collectActingParts(workspace, [skillIn(directory)])
    const accepted = {
      workspace,
      acceptedAt: '',
      pinned: false,
      parts: parts.filter((part) => !part.path.endsWith('new')),
    }
    writeFiles(directory, { 'scripts/edited': '2', 'scripts/new': '1' })
    const now = collectActingParts(workspace, [skillIn(directory)]).filter(
      (part) => !part.path.endsWith('gone'),
    )
    const { state, changes } = assessWorkspace(accepted, now)
    expect(state).toBe('changed')
    expect(changes.map(({ change, part }) => `${change} ${part.path}`)).toEqual([
      'changed .skillrail/skills/a/scripts/edited',
      'removed .skillrail/skills/a/scripts/gone',
      'added .skillrail/skills/a/scripts/new',
    ])
    expect(assessWorkspace(undefined, now).state).toBe('untrusted')
  })
})
