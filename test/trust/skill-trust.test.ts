import {
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ChainDeclaration } from '../../src/skill/model.ts'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import {
  assessWorkspace,
  confirmTrust,
  readTrustPolicy,
  requireTrusted,
  SkillNotTrustedError,
  skillTrust,
  trustRefusal,
} from '../../src/trust/skill-trust.ts'
import { WorkspaceNotTrustedError } from '../../src/commands/trust/agree.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

async function acceptedProject(options: { pinned?: boolean } = {}) {
  const root = temporaryDirectory()
  const runtime = runtimeIn(root)
  const workspace = join(root, 'project')
  const directory = join(workspace, '.skillrail/skills/deploy')
  writeFiles(directory, {
    'SKILL.md': 'Deploy it.\n',
    'references/how.md': 'Carefully.\n',
    'scripts/run.sh': '#!/bin/sh\necho one\n',
  })
  const skill = skillIn(directory, { allowedTools: [{ tool: 'Read' }] })
  const { pinned = false } = options
  const parts = collectActingParts(workspace, [skill], { text: pinned })
  await new TrustStore(runtime).accept(workspace, parts, { pinned })
  const policyNow = () => readTrustPolicy(runtime, { workspace }).policy
  return { root, runtime, workspace, directory, skill, policyNow }
}

describe('a project skill', () => {
  it('is untrusted until its workspace is accepted', async () => {
    const { runtime, workspace, skill, policyNow } = await acceptedProject()
    expect(confirmTrust(skill, policyNow()).level).toBe('trusted')
    await new TrustStore(runtime).revoke(workspace)
    expect(skillTrust(skill, policyNow()).code).toBe('workspace-not-accepted')
    expect(confirmTrust(skill, policyNow()).code).toBe('workspace-not-accepted')
  })

  it.each<[string, (directory: string) => void]>([
    [
      'a script is edited',
      (d) => writeFileSync(join(d, 'scripts/run.sh'), '#!/bin/sh\necho two\n'),
    ],
    ['a script is added', (d) => writeFileSync(join(d, 'scripts/more'), 'x')],
    ['a script is removed', (d) => rmSync(join(d, 'scripts/run.sh'))],
    [
      'a script becomes a link',
      (d) => {
        rmSync(join(d, 'scripts/run.sh'))
        symlinkSync('../references/how.md', join(d, 'scripts/run.sh'))
      },
    ],
    [
      'a text becomes executable code',
      (d) => {
        writeFileSync(join(d, 'tool'), '#!/bin/sh\n')
      },
    ],
    [
      'a file gets its run bit',
      (d) => {
        writeFileSync(join(d, 'data'), 'x')
        chmodSync(join(d, 'data'), 0o755)
      },
    ],
    [
      'scripts becomes a link out of the skill',
      (d) => {
        rmSync(join(d, 'scripts'), { recursive: true })
        symlinkSync('/tmp', join(d, 'scripts'))
      },
    ],
  ])('is refused after %s', async (_what, change) => {
    const { directory, skill, policyNow } = await acceptedProject()
    change(directory)
    expect(skillTrust(skill, policyNow()).level).toBe('trusted')
    expect(confirmTrust(skill, policyNow()).code).toBe('workspace-changed')
    expect(() => requireTrusted(skill, policyNow(), 'run its script')).toThrow(SkillNotTrustedError)
  })

  it.each([
    ['allowed-tools', { allowedTools: [{ tool: 'Bash' }] }],
    ['hooks', { hooks: { PreToolUse: [] } }],
    ['run', { run: 'references/how.md' }],
    ['a chain', { chain: chainOf('a', 'b') }],
    ['context: fork', { context: 'fork' as const, agent: 'general' }],
  ])('is refused if %s is new', async (_field, fields) => {
    const { directory, policyNow } = await acceptedProject()
    const edited = skillIn(directory, { allowedTools: [{ tool: 'Read' }], ...fields })
    expect(confirmTrust(edited, policyNow()).code).toBe('workspace-changed')
  })

  it('is refused if a step or a gate of its chain is gone', async () => {
    const { runtime, workspace, directory, policyNow } = await acceptedProject()
    const before = skillIn(directory, { chain: chainOf('a', 'b') })
    await new TrustStore(runtime).accept(workspace, collectActingParts(workspace, [before]))
    expect(confirmTrust(before, policyNow()).level).toBe('trusted')
    for (const chain of [chainOf('a'), { ...chainOf('a', 'b'), gates: [] }]) {
      const after = skillIn(directory, { chain })
      expect(confirmTrust(after, policyNow()).code).toBe('workspace-changed')
    }
  })

  it('stays trusted after its text changed, unless the workspace is pinned', async () => {
    const free = await acceptedProject()
    writeFileSync(join(free.directory, 'references/how.md'), 'Quickly.\n')
    expect(confirmTrust(free.skill, free.policyNow()).level).toBe('trusted')
    const pinned = await acceptedProject({ pinned: true })
    expect(confirmTrust(pinned.skill, pinned.policyNow()).level).toBe('trusted')
    writeFileSync(join(pinned.directory, 'references/how.md'), 'Quickly.\n')
    expect(confirmTrust(pinned.skill, pinned.policyNow()).code).toBe('workspace-changed')
  })

  it('is refused with exit code 4 and the command that shows the change', async () => {
    const { workspace, directory, skill, policyNow } = await acceptedProject()
    rmSync(join(directory, 'scripts/run.sh'))
    const refusal = refusalOf(() => requireTrusted(skill, policyNow(), 'run its script'))
    expect(refusal.exitCode).toBe(4)
    expect(refusal.code).toBe('skill-not-trusted')
    expect(refusal.message).toBe(
      'Skill deploy may not run its script: something that it can execute has changed since its workspace was trusted.',
    )
    expect(refusal.hint).toBe(`To see what changed and accept it: skillrail trust ${workspace}`)
  })

  it.each([
    ['.skillrail/skills/a', ''],
    ['packages/web/.claude/skills/a', '/packages/web/.claude/skills'],
  ])(
    'is refused at %s of an untrusted workspace, with a command that finds the skill',
    (path, place) => {
      const root = temporaryDirectory()
      const { policy } = readTrustPolicy(runtimeIn(root), { workspace: root })
      const refusal = refusalOf(() =>
        requireTrusted(skillIn(join(root, path)), policy, 'use hooks'),
      )
      expect(refusal.reasonCode).toBe('workspace-not-accepted')
      expect(refusal.hint).toBe(
        `To see what it may do and allow it: skillrail trust ${root}${place} (in CI: --trust-workspace).`,
      )
    },
  )

  it('passes without a refusal if it is trusted', async () => {
    const { skill, policyNow } = await acceptedProject()
    expect(() => requireTrusted(skill, policyNow(), 'run its script')).not.toThrow()
    expect(trustRefusal(skill, policyNow(), 'run its script')).toBeUndefined()
  })

  it('is judged by its own parts, whatever other skills do', async () => {
    const { runtime, workspace, directory, skill, policyNow } = await acceptedProject()
    const other = skillIn(join(workspace, '.skillrail/skills/other'))
    writeFiles(other.directory, { 'scripts/run.sh': 'echo other\n' })
    await new TrustStore(runtime).accept(workspace, collectActingParts(workspace, [skill, other]))
    writeFileSync(join(other.directory, 'scripts/run.sh'), 'echo more\n')
    expect(confirmTrust(skill, policyNow()).code).toBe('workspace-accepted')
    expect(confirmTrust(other, policyNow()).code).toBe('workspace-changed')
    rmSync(join(directory, 'scripts/run.sh'))
    expect(confirmTrust(skill, policyNow()).code).toBe('workspace-changed')
  })

  it('is refused after it lost its sandbox', async () => {
    const { runtime, workspace, directory, policyNow } = await acceptedProject()
    const before = skillIn(directory, { run: 'scripts/run.sh', sandbox: true })
    await new TrustStore(runtime).accept(workspace, collectActingParts(workspace, [before]))
    expect(confirmTrust(before, policyNow()).level).toBe('trusted')
    const after = skillIn(directory, { run: 'scripts/run.sh' })
    expect(confirmTrust(after, policyNow()).code).toBe('workspace-changed')
  })

  it('is refused if it is new in a trusted workspace', async () => {
    const { workspace, policyNow } = await acceptedProject()
    const directory = join(workspace, '.skillrail/skills/other')
    writeFiles(directory, { 'scripts/run.sh': 'echo hello\n' })
    expect(confirmTrust(skillIn(directory), policyNow()).code).toBe('workspace-added')
  })

  it('is refused if it is new and contains only text, until it is accepted', async () => {
    const { runtime, workspace, skill, policyNow } = await acceptedProject()
    const directory = join(workspace, '.skillrail/skills/other')
    writeFiles(directory, { 'SKILL.md': '---\nname: other\n---\nDo it.\n' })
    const other = skillIn(directory)
    expect(confirmTrust(other, policyNow()).code).toBe('workspace-added')
    const before = assessWorkspace(
      policyNow().acceptance,
      collectActingParts(workspace, [skill, other]),
    )
    expect(before.changes).toMatchObject([{ change: 'added', part: { kind: 'skill' } }])
    expect(before.changes[0]?.part).toHaveProperty('text', expect.stringContaining('Do it.'))
    const store = new TrustStore(runtime)
    await store.accept(workspace, collectActingParts(workspace, [skill, other]))
    expect(confirmTrust(other, policyNow()).level).toBe('trusted')
    writeFiles(directory, { 'SKILL.md': '---\nname: other\n---\nDo more.\n' })
    expect(confirmTrust(other, policyNow()).level).toBe('trusted')
    writeFiles(directory, { 'scripts/run.sh': 'echo\n' })
    expect(confirmTrust(other, policyNow()).level).toBe('untrusted')
  })

  it('is trusted if it is new, contains only text, and the user accepted new text', async () => {
    const { runtime, workspace, skill, policyNow } = await acceptedProject()
    const store = new TrustStore(runtime)
    const parts = collectActingParts(workspace, [skill])
    await store.accept(workspace, parts, { newText: true })
    const directory = join(workspace, '.skillrail/skills/other')
    writeFiles(directory, { 'SKILL.md': '---\nname: other\n---\n' })
    const other = skillIn(directory)
    expect(confirmTrust(other, policyNow()).level).toBe('trusted')
    expect(
      assessWorkspace(policyNow().acceptance, [...parts, ...collectActingParts(workspace, [other])])
        .state,
    ).toBe('trusted')
    writeFiles(directory, { 'scripts/run.sh': 'echo\n' })
    expect(confirmTrust(other, policyNow()).code).toBe('workspace-added')
  })

  it('is known from an earlier record that named no skills', async () => {
    const { runtime, workspace, skill, policyNow } = await acceptedProject()
    const parts = collectActingParts(workspace, [skill])
    const earlier = parts.filter(({ kind }) => kind !== 'skill')
    await new TrustStore(runtime).accept(workspace, earlier)
    expect(confirmTrust(skill, policyNow()).level).toBe('trusted')
    expect(assessWorkspace(policyNow().acceptance, parts).state).toBe('trusted')
  })
})

describe('a workspace', () => {
  it('is another workspace after it was renamed or copied', async () => {
    const { root, runtime, workspace } = await acceptedProject()
    const copy = join(root, 'copy')
    cpSync(workspace, copy, { recursive: true })
    renameSync(workspace, join(root, 'renamed'))
    for (const place of [copy, join(root, 'renamed')]) {
      const { policy } = readTrustPolicy(runtime, { workspace: place })
      const skill = skillIn(join(place, '.skillrail/skills/deploy'))
      expect(skillTrust(skill, policy).code).toBe('workspace-not-accepted')
    }
  })

  it('is judged by its real path behind a link', async () => {
    const { root, runtime, workspace, skill } = await acceptedProject()
    symlinkSync(workspace, join(root, 'link'))
    const { policy } = readTrustPolicy(runtime, { workspace: join(root, 'link') })
    expect(policy.workspace).toBe(workspace)
    const linked = { ...skill, directory: join(root, 'link/.skillrail/skills/deploy') }
    expect(confirmTrust(linked, policy).level).toBe('trusted')
  })

  it('is not trusted after it was replaced by a link to another folder', async () => {
    const { root, runtime, workspace } = await acceptedProject()
    const evil = join(root, 'evil')
    cpSync(workspace, evil, { recursive: true })
    rmSync(workspace, { recursive: true })
    symlinkSync(evil, workspace)
    const { policy } = readTrustPolicy(runtime, { workspace })
    const skill = skillIn(join(workspace, '.skillrail/skills/deploy'))
    expect(skillTrust(skill, policy).level).toBe('untrusted')
  })

  it('does not cover a skill behind a link to outside', async () => {
    const { root, runtime, workspace, policyNow } = await acceptedProject()
    writeFiles(join(root, 'outside'), { 'scripts/run.sh': 'echo hello\n' })
    const link = join(workspace, '.skillrail/skills/borrowed')
    symlinkSync(join(root, 'outside'), link)
    const skill = skillIn(link)
    expect(skillTrust(skill, policyNow()).code).toBe('outside-workspace')
    expect(collectActingParts(workspace, [skill])).toEqual([])
    const vouched = readTrustPolicy(runtime, { workspace, workspaceTrust: 'trusted' }).policy
    expect(skillTrust(skill, vouched).level).toBe('untrusted')
  })
})

describe('a caller who vouches for a workspace that nobody accepted', () => {
  it("covers the workspace's skills, and no skill behind a link to outside", () => {
    const root = temporaryDirectory()
    const workspace = join(root, 'project')
    for (const path of ['project/a', 'outside']) mkdirSync(join(root, path), { recursive: true })
    symlinkSync(join(root, 'outside'), join(workspace, 'borrowed'))
    const { policy } = readTrustPolicy(runtimeIn(root), { workspace, workspaceTrust: 'trusted' })
    const code = (name: string): string => skillTrust(skillIn(join(workspace, name)), policy).code
    expect(code('a')).toBe('workspace-option')
    expect(code('borrowed')).toBe('outside-workspace')
    expect(code('missing')).toBe('directory-unreadable')
  })
})

it('a skill is judged by the real path that the caller provides', async () => {
  const { root, skill, policyNow } = await acceptedProject()
  const real = { ...skill, realDirectory: join(root, 'elsewhere') }
  expect(skillTrust(real, policyNow()).code).toBe('outside-workspace')
})

it('the error for a workspace that nobody confirmed has exit code 4', () => {
  const error = new WorkspaceNotTrustedError({ code: 'workspace-not-trusted', message: 'No.' })
  expect(error.exitCode).toBe(4)
})

describe('a custom path', () => {
  it('keeps its scope if it leads nowhere', async () => {
    const { root, policyNow } = await acceptedProject()
    const skill = { ...skillIn(join(root, 'missing')), scope: 'custom' as const }
    expect(skillTrust(skill, policyNow()).code).toBe('custom-path')
  })

  it('reports and ignores a relative trusted path, and expands one below the home', () => {
    const root = temporaryDirectory()
    const runtime = runtimeIn(root)
    mkdirSync(join(runtime.home, 'mine/a'), { recursive: true })
    mkdirSync(join(root, 'skills/a'), { recursive: true })
    const { policy, diagnostics } = readTrustPolicy(runtime, {
      workspace: root,
      trustedPaths: ['skills', '', '~/mine'],
    })
    expect(policy.trustedPaths).toEqual([join(runtime.home, 'mine')])
    expect(diagnostics.map((item) => item.code)).toEqual([
      'trusted-path-relative',
      'trusted-path-relative',
    ])
  })

  it('is refused with the setting that would allow it', () => {
    const root = temporaryDirectory()
    const { policy } = readTrustPolicy(runtimeIn(root), { workspace: root })
    const skill = { ...skillIn("/opt/it's here"), scope: 'custom' as const }
    expect(refusalOf(() => requireTrusted(skill, policy, 'use hooks')).hint).toBe(
      String.raw`To allow it, add '/opt/it'\''s here' to skills.trustedPaths in your own configuration file.`,
    )
  })
})

function chainOf(...names: string[]): ChainDeclaration {
  return {
    steps: names.map((name, index) => ({ name, line: index })),
    gates: ['a'],
    line: 3,
    policy: {
      async: false,
      continueOnError: true,
      timeout: 0,
      maxDepth: 10,
      parallelLimit: 5,
      validateOnLoad: true,
      cleanupAfter: true,
      earlyExitOn: 'none',
      continueOnSuccess: false,
      passState: true,
      retryCount: 1,
      retryUntil: 'none',
      raceMode: false,
    },
  }
}

function refusalOf(action: () => void): SkillNotTrustedError {
  try {
    action()
  } catch (error) {
    if (error instanceof SkillNotTrustedError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
