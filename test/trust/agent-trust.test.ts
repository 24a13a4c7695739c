import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import type { ActingPart, SkillScope } from '../../src/trust/model.ts'
import { agentTrust, readTrustPolicy } from '../../src/trust/skill-trust.ts'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { agentFileParts } from '../../src/trust/agent-files.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

const frontmatter = 'name: helper\ndescription: Helps.\ntools: Read\n'
const definition = `---\n${frontmatter}---\nHelp politely.\n`
const place = '.claude/agents/helper.md'

function project(files: Readonly<Record<string, string>> = { [place]: definition }) {
  const root = temporaryDirectory()
  const runtime = runtimeIn(root)
  const workspace = join(root, 'project')
  mkdirSync(workspace)
  writeFiles(workspace, files)
  const accept = async (options: { pinned?: boolean } = {}): Promise<void> => {
    const { pinned = false } = options
    const parts = collectActingParts(workspace, [], { text: pinned })
    await new TrustStore(runtime).accept(workspace, parts, { pinned })
  }
  const verdict = (path = place, scope: SkillScope = 'project') => {
    const { policy } = readTrustPolicy(runtime, { workspace })
    return agentTrust({ name: 'helper', scope, path: join(workspace, path) }, policy)
  }
  return { root, runtime, workspace, accept, verdict }
}

describe('a file that defines a subagent', () => {
  it("is trusted if it is the user's", () => {
    expect(project().verdict(place, 'user')).toMatchObject({ level: 'trusted', code: 'user-scope' })
  })

  it('is untrusted in a project until the project is accepted', async () => {
    const { workspace, accept, verdict } = project()
    expect(verdict()).toMatchObject({
      level: 'untrusted',
      code: 'workspace-not-accepted',
      hint: `To see what it may do and allow it: skillrail trust ${workspace} (in CI: --trust-workspace).`,
    })
    await accept()
    expect(verdict()).toMatchObject({ level: 'trusted', code: 'workspace-accepted' })
  })

  it.each([
    ['a tool', definition.replace('Read', 'Bash')],
    ['a permission', definition.replace('tools: Read', 'tools: Read\npermissionMode: bypass')],
    ['everything', 'No subagent any more.\n'],
  ])('is refused after its %s changed', async (_what, text) => {
    const { workspace, accept, verdict } = project()
    await accept()
    writeFileSync(join(workspace, place), text)
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'workspace-changed' })
  })

  it('stays trusted after its prompt changed, unless the project is pinned', async () => {
    for (const pinned of [false, true]) {
      const { workspace, accept, verdict } = project()
      await accept({ pinned })
      expect(verdict().level).toBe('trusted')
      writeFileSync(join(workspace, place), definition.replace('politely', 'quickly'))
      expect(verdict().level).toBe(pinned ? 'untrusted' : 'trusted')
    }
  })

  it('is refused if it is new in an accepted project, with the command that shows it', async () => {
    const { workspace, accept, verdict } = project()
    await accept()
    writeFiles(workspace, { '.claude/agents/other.md': definition })
    expect(verdict('.claude/agents/other.md')).toMatchObject({
      code: 'workspace-changed',
      hint: `To see what changed and accept it: skillrail trust ${workspace}`,
    })
    expect(verdict().code).toBe('workspace-accepted')
  })

  it('is judged by its own acting parts, whatever other files do', async () => {
    const other = '.claude/agents/other.md'
    const { workspace, accept, verdict } = project({ [place]: definition, [other]: definition })
    await accept()
    writeFileSync(join(workspace, other), definition.replace('Read', 'Bash'))
    expect([verdict().code, verdict(other).code]).toEqual([
      'workspace-accepted',
      'workspace-changed',
    ])
  })

  it('is refused if it is a link out of the accepted project', async () => {
    const { root, workspace, accept, verdict } = project()
    await accept()
    writeFiles(root, { 'outside/helper.md': definition })
    rmSync(join(workspace, place))
    symlinkSync(join(root, 'outside/helper.md'), join(workspace, place))
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'outside-workspace' })
  })

  it('is refused if it is a link that leads nowhere', async () => {
    const { workspace, accept, verdict } = project()
    await accept()
    rmSync(join(workspace, place))
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'directory-unreadable' })
  })

  it('is not confused with a text file of the skill around it', async () => {
    const path = '.claude/agents/deploy/helper.md'
    const { runtime, workspace, verdict } = project({
      [path]: definition,
      '.claude/agents/deploy/SKILL.md': 'Deploy.\n',
    })
    const skill = skillIn(join(workspace, '.claude/agents/deploy'))
    const parts = collectActingParts(workspace, [skill], { text: true })
    await new TrustStore(runtime).accept(workspace, parts, { pinned: true })
    expect(verdict(path).code).toBe('workspace-accepted')
    writeFileSync(join(workspace, path), `${definition}More.\n`)
    expect(verdict(path).code).toBe('workspace-changed')
  })
})

describe('the acting parts of a file that defines a subagent', () => {
  function parts(workspace: string, options: { text?: boolean; from?: string } = {}): ActingPart[] {
    return collectActingParts(workspace, [], options)
  }

  it('are its frontmatter; the prompt is text', () => {
    const { workspace } = project()
    const acting = {
      owner: '',
      path: place,
      kind: 'agent',
      digest: sha256(frontmatter),
      size: frontmatter.length,
      text: frontmatter,
    }
    expect(parts(workspace)).toEqual([acting])
    expect(parts(workspace, { text: true })).toEqual([
      acting,
      {
        ...acting,
        kind: 'text',
        digest: sha256(definition),
        size: definition.length,
        text: definition,
      },
    ])
  })

  it('are empty without frontmatter, and the whole file if the file is long', () => {
    const long = definition + 'x'.repeat(64 * 1024)
    const { workspace } = project({
      '.claude/agents/readme.md': 'How these are written.\n',
      '.claude/agents/long.md': long,
    })
    expect(parts(workspace)).toEqual([
      {
        owner: '',
        path: '.claude/agents/long.md',
        kind: 'agent',
        digest: sha256(long),
        size: long.length,
      },
    ])
  })

  it('exist for an empty frontmatter, and are unreadable for a file that is gone', () => {
    const { workspace } = project({ [place]: '---\n---\nHelp politely.\n' })
    expect(parts(workspace)).toMatchObject([{ path: place, digest: sha256(''), text: '' }])
    const gone = agentFileParts(workspace, join(workspace, '.claude/agents/gone.md'), {
      text: false,
    })
    expect(gone).toMatchObject([{ digest: 'unreadable', problem: 'cannot be read: ENOENT' }])
  })

  it("are those of a link's target; a link that leads nowhere can never be accepted", () => {
    const { workspace } = project({ 'shared/helper.md': definition })
    mkdirSync(join(workspace, '.agents/agents'), { recursive: true })
    symlinkSync('../../shared/helper.md', join(workspace, '.agents/agents/helper.md'))
    symlinkSync('nowhere.md', join(workspace, '.agents/agents/lost.md'))
    expect(parts(workspace)).toMatchObject([
      { path: '.agents/agents/helper.md', digest: sha256(frontmatter) },
      {
        owner: '',
        path: '.agents/agents/lost.md',
        kind: 'agent',
        digest: 'unreadable',
        size: 0,
        problem: 'cannot be read: ELOOP',
      },
    ])
  })

  it.each(['.skillrail/agents', '.agents/agents', '.claude/agents', '.mamba/agents'])(
    'are collected from %s',
    (directory) => {
      const { workspace } = project({ [`${directory}/helper.md`]: definition })
      expect(parts(workspace).map(({ path }) => path)).toEqual([`${directory}/helper.md`])
    },
  )

  it('are collected from the start folder up to the workspace, each file once', async () => {
    const { runtime, workspace } = project({
      [place]: definition,
      'packages/web/.claude/agents/near.md': definition,
      'packages/api/.claude/agents/far.md': definition,
    })
    const from = join(workspace, 'packages/web')
    const near = 'packages/web/.claude/agents/near.md'
    expect(parts(workspace).map(({ path }) => path)).toEqual([place])
    expect(parts(workspace, { from }).map(({ path }) => path)).toEqual([place, near])
    const accepted = await new TrustStore(runtime).accept(workspace, parts(workspace, { from }))
    const again = collectActingParts(workspace, [], { accepted })
    expect(again.map(({ path }) => path)).toEqual([place, near])
    const pinned = collectActingParts(workspace, [], { accepted, text: true })
    expect(pinned.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      `agent ${place}`,
      `text ${place}`,
      `agent ${near}`,
      `text ${near}`,
    ])
    rmSync(join(workspace, near))
    expect(collectActingParts(workspace, [], { accepted }).map(({ path }) => path)).toEqual([place])
  })

  it('do not come from a SKILL.md, although that has frontmatter too', async () => {
    const { runtime, workspace } = project({ 'skills/deploy/SKILL.md': definition })
    const skill = skillIn(join(workspace, 'skills/deploy'))
    const parts = collectActingParts(workspace, [skill], { text: true })
    const accepted = await new TrustStore(runtime).accept(workspace, parts, { pinned: true })
    expect(collectActingParts(workspace, [skill], { text: true, accepted })).toEqual(parts)
  })
})
