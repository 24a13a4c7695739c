import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import type { ActingPart } from '../../src/trust/model.ts'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

function partsWith(files: Readonly<Record<string, string>>): ActingPart[] {
  const workspace = temporaryDirectory()
  writeFiles(workspace, files)
  return collectActingParts(workspace, [])
}

describe('a file of a project that starts or allows something', () => {
  it.each([
    ['.skillrail/config.json', 'configuration'],
    ['.skillrail/workflows.json', 'workflow'],
    ['.mcp.json', 'mcp'],
    ['.cursor/mcp.json', 'mcp'],
    ['.vscode/mcp.json', 'mcp'],
    ['.codex/config.toml', 'mcp'],
    ['.cursor/hooks.json', 'client-hooks'],
    ['.codex/hooks.json', 'client-hooks'],
  ])('counts as a whole: %s, as %s', (path, kind) => {
    const text = '{"anything": 1}\n'
    const size = text.length
    expect(partsWith({ [path]: text })).toEqual([
      { owner: '', path, kind, digest: sha256(text), size, text },
    ])
  })

  it.each([
    ['.skillrail/tools.json', 'workflow', 'workflows'],
    ['.opencode/agent-skill-tools.json', 'workflow', 'workflows'],
    ['.opencode/skill-tools.json', 'workflow', 'workflows'],
    ['.opencode/mcp-tools.json', 'workflow', 'workflows'],
    ['.gemini/settings.json', 'mcp', 'mcpServers'],
    ['opencode.json', 'mcp', 'mcp'],
    ['opencode.jsonc', 'mcp', 'mcp'],
    ['.opencode/opencode.json', 'mcp', 'mcp'],
    ['.opencode/opencode.jsonc', 'mcp', 'mcp'],
    ['.claude/settings.json', 'client-hooks', 'hooks'],
    ['.claude/settings.local.json', 'client-hooks', 'hooks'],
    ['.gemini/settings.json', 'client-hooks', 'hooks'],
  ])('counts by some keys: in %s, as %s, only the key %s', (path, kind, key) => {
    const written = JSON.stringify({ theme: 'dark', [key]: { a: 1 } })
    const text = `{\n  "${key}": {\n    "a": 1\n  }\n}\n`
    expect(partsWith({ [path]: written })).toEqual([
      { owner: '', path, kind, digest: sha256(text), size: written.length, text },
    ])
    expect(partsWith({ [path]: '{"theme": "dark"}' })).toEqual([])
  })

  it.each([
    ['no JSON', 'hooks: none'],
    ['JSON with comments', '{"hooks": {}} // none'],
    ['a list', '["hooks"]'],
    ['a text', '"hooks"'],
    ['null', 'null'],
  ])('counts as a whole if it is %s', (_what, text) => {
    expect(partsWith({ '.claude/settings.json': text })).toMatchObject([
      { kind: 'client-hooks', digest: sha256(text), text },
      { kind: 'mcp', digest: sha256(text), text },
    ])
  })

  it('counts by its acting keys, however long the rest is', () => {
    const cache = (length: number, more: object = {}): ActingPart[] => {
      const text = JSON.stringify({ categories: 'x'.repeat(length), ...more })
      return partsWith({ '.skillrail/tools.json': text })
    }
    expect(cache(70_000)).toEqual([])
    const workflows = { w: { description: 'x'.repeat(70_000) } }
    const digests = [10, 70_000].map((length) => cache(length, { workflows })[0]?.digest)
    expect(digests[0]).toMatch(/^sha256:/)
    expect(digests[1]).toBe(digests[0])
  })

  it('counts as a whole if it is not JSON', () => {
    const text = `{${'x'.repeat(70_000)}`
    expect(partsWith({ '.claude/settings.json': text })[0]?.digest).toBe(sha256(text))
  })
})

describe('a file of a project that is a link', () => {
  function linked(path: string, target: string, files: Record<string, string> = {}): ActingPart[] {
    const workspace = temporaryDirectory()
    writeFiles(workspace, files)
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    symlinkSync(target, join(workspace, path))
    return collectActingParts(workspace, [])
  }

  it('counts by its target, and is reported as a link', () => {
    expect(linked('.mcp.json', 'servers.json', { 'servers.json': '{}' })).toEqual([
      {
        owner: '',
        path: '.mcp.json',
        kind: 'mcp',
        digest: sha256('{}'),
        size: 2,
        text: '{}',
        link: 'servers.json',
      },
    ])
    expect(
      linked('.claude/settings.json', '../hooks.json', { 'hooks.json': '{"hooks":1}' }),
    ).toMatchObject([{ digest: sha256('{\n  "hooks": 1\n}\n'), link: '../hooks.json' }])
  })

  it.each([
    ['that leads nowhere', '.mcp.json', 'nowhere', 'cannot be read: ELOOP'],
    ['to a device', '.mcp.json', '/dev/zero', 'cannot be read: it is not a regular file'],
    ['to a directory', '.mcp.json', '.', 'cannot be read: it is not a regular file'],
  ])('can never be accepted: %s', (_what, path, target, problem) => {
    expect(linked(path, target)).toEqual([
      { owner: '', path, kind: 'mcp', digest: 'unreadable', size: 0, link: target, problem },
    ])
  })

  it(
    'can never be accepted if it leads to memory that cannot be read',
    {
      skip: process.platform !== 'linux',
    },
    () => {
      expect(linked('.mcp.json', '/proc/self/mem')).toMatchObject([
        { digest: 'unreadable', problem: 'cannot be read: EIO' },
      ])
    },
  )

  it('can never be accepted in a folder that leads to itself', () => {
    const problem = 'cannot be read: ELOOP'
    expect(linked('.cursor', '.cursor')).toEqual([
      {
        owner: '',
        path: '.cursor/hooks.json',
        kind: 'client-hooks',
        digest: 'unreadable',
        size: 0,
        problem,
      },
      {
        owner: '',
        path: '.cursor/mcp.json',
        kind: 'mcp',
        digest: 'unreadable',
        size: 0,
        problem,
      },
    ])
  })
})
