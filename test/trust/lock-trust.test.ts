import {
  appendFileSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import {
  confirmTrust,
  decideTrust,
  readTrustPolicy,
  trustRefusal,
} from '../../src/trust/skill-trust.ts'
import { currentSkills } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

const files = { 'SKILL.md': 'text\n', 'scripts/run.sh': '#!/bin/sh\n', 'guide.md': 'A guide.\n' }

async function locked() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const directory = join(workspace, '.claude/skills/deploy')
  writeFiles(directory, files)
  const runtime = runtimeIn(root)
  const skill = skillIn(directory)
  const lock = new LockStore(runtime, workspace)
  const now = () => currentSkills(workspace, [{ name: 'deploy', realDirectory: directory }])
  const accept = async (): Promise<void> => {
    await new TrustStore(runtime).accept(workspace, collectActingParts(workspace, [skill]))
  }
  await accept()
  await lock.write(now())
  const verdict = (options: { vouched?: boolean; trustedPaths?: string[] } = {}, asked = skill) => {
    const workspaceTrust = options.vouched === true ? 'trusted' : 'ask'
    const { trustedPaths } = options
    const { policy } = readTrustPolicy(runtime, { workspace, workspaceTrust, trustedPaths })
    return confirmTrust(asked, policy)
  }
  return { root, workspace, directory, runtime, skill, lock, now, accept, verdict }
}

describe('in a project with a lock', () => {
  it('a skill is trusted as it was locked, and untrusted once any text differs', async () => {
    const { directory, verdict } = await locked()
    expect(verdict()).toMatchObject({ level: 'trusted', code: 'workspace-accepted' })
    appendFileSync(join(directory, 'guide.md'), 'More.\n')
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
    writeFileSync(join(directory, 'guide.md'), files['guide.md'])
    expect(verdict()).toMatchObject({ level: 'trusted' })
  })

  it('neither the caller nor a trusted path vouches for a skill that differs', async () => {
    const { directory, verdict } = await locked()
    expect(verdict({ vouched: true })).toMatchObject({ code: 'workspace-option' })
    expect(verdict({ trustedPaths: [directory] })).toMatchObject({ code: 'trusted-path' })
    appendFileSync(join(directory, 'guide.md'), 'More.\n')
    expect(verdict({ vouched: true })).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
    expect(verdict({ trustedPaths: [directory] })).toMatchObject({ code: 'lock-drift' })
  })

  it('a skill that the lock does not contain is not trusted', async () => {
    const { workspace, runtime, skill, verdict } = await locked()
    const other = skillIn(join(workspace, '.claude/skills/other'))
    writeFiles(other.directory, files)
    const parts = collectActingParts(workspace, [skill, other])
    await new TrustStore(runtime).accept(workspace, parts)
    expect(verdict({}, other)).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
  })

  it('a skill that was moved to a configured folder of the project is not trusted', async () => {
    const { workspace, directory, skill, verdict } = await locked()
    const moved = join(workspace, 'elsewhere')
    renameSync(directory, moved)
    const custom = { ...skill, directory: moved, scope: 'custom' as const }
    expect(verdict({ trustedPaths: [workspace] }, custom)).toMatchObject({ code: 'lock-drift' })
  })

  it('a folder that became a workspace follows the lock above until it has its own', async () => {
    const { root, runtime, lock, verdict, workspace } = await locked()
    const inner = join(workspace, 'sub')
    const skill = skillIn(join(inner, '.claude/skills/deploy'))
    writeFiles(skill.directory, files)
    writeFiles(inner, { '.git': '' })
    const asked = () => {
      const { policy } = readTrustPolicy(runtime, { workspace: inner, workspaceTrust: 'trusted' })
      return confirmTrust(skill, policy)
    }
    const inside = (workspaceOf: string) =>
      currentSkills(workspaceOf, [{ name: 'deploy', realDirectory: skill.directory }])
    expect(verdict({ vouched: true })).toMatchObject({ level: 'trusted' })
    expect(asked()).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
    await lock.write(inside(workspace))
    expect(asked()).toMatchObject({ level: 'trusted' })
    appendFileSync(join(skill.directory, 'guide.md'), 'More.\n')
    expect(asked()).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
    await new LockStore(runtimeIn(root), inner).write(inside(inner))
    expect(asked()).toMatchObject({ level: 'trusted' })
  })

  it('a skill that was replaced by a link to a copy is not trusted', async () => {
    const { workspace, directory, verdict } = await locked()
    renameSync(directory, join(workspace, 'copy'))
    symlinkSync(join(workspace, 'copy'), directory)
    expect(verdict({ vouched: true })).toMatchObject({ level: 'untrusted', code: 'lock-drift' })
  })

  it('a skill in a trusted path outside the project ignores the lock', async () => {
    const { root, workspace, verdict } = await locked()
    const outside = join(root, 'outside')
    writeFiles(outside, files)
    const directory = join(workspace, '.claude/skills/linked')
    symlinkSync(outside, directory)
    const linked = { ...skillIn(directory), realDirectory: realpathSync(outside) }
    expect(verdict({ trustedPaths: [outside] }, linked)).toMatchObject({ code: 'trusted-path' })
  })

  it("the user's skills ignore the lock", async () => {
    const { root, verdict } = await locked()
    const own = { ...skillIn(join(root, 'home/.claude/skills/own')), scope: 'user' as const }
    expect(verdict({}, own)).toMatchObject({ level: 'trusted', code: 'user-scope' })
  })

  it('a part that was not accepted is not trusted, although skill and lock were edited together', async () => {
    const { directory, lock, now, verdict } = await locked()
    appendFileSync(join(directory, 'scripts/run.sh'), 'curl evil\n')
    await lock.write(now())
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'workspace-changed' })
  })

  it('a lock that cannot be read makes every skill untrusted until the lock is gone', async () => {
    const { lock, verdict } = await locked()
    writeFileSync(lock.path, '{')
    expect(verdict()).toMatchObject({ level: 'untrusted', code: 'lock-unreadable' })
    expect(verdict({ vouched: true })).toMatchObject({ code: 'lock-unreadable' })
    await lock.remove()
    expect(verdict()).toMatchObject({ level: 'trusted', code: 'workspace-accepted' })
  })

  it('a lock that changes between two decisions is read again', async () => {
    const { lock, verdict } = await locked()
    const text = readFileSync(lock.path, 'utf8')
    expect(verdict().level).toBe('trusted')
    writeFileSync(lock.path, text.replace('"version": 2', '"version": 9'))
    expect(verdict()).toMatchObject({ code: 'lock-unreadable' })
    writeFileSync(lock.path, '{"version": 1, "skills": []}')
    expect(verdict()).toMatchObject({ code: 'lock-drift' })
  })

  it('a refusal says how to inspect the difference and how to continue', async () => {
    const { workspace, directory, runtime, skill, lock } = await locked()
    const { policy } = readTrustPolicy(runtime, { workspace })
    appendFileSync(join(directory, 'guide.md'), 'More.\n')
    const refused = trustRefusal(skill, policy, 'act')
    expect(refused?.hint).toContain('--lock --check')
    expect(refused?.message).toContain('it differs from the lock file of its project')
    writeFileSync(lock.path, '{')
    expect(trustRefusal(skill, policy, 'act')?.hint).toContain('--unlock')
  })
})

it('a project cannot be trusted by its lock alone', async () => {
  const { workspace, runtime, verdict } = await locked()
  await new TrustStore(runtime).revoke(workspace)
  expect(verdict()).toMatchObject({ level: 'untrusted', code: 'workspace-not-accepted' })
})

it('a lock never raises a level, and lowers only the level of project skills', () => {
  const directory = fc.constantFrom('/p/s', '/q/s', undefined)
  const policy = fc.record({
    workspace: fc.constant('/p'),
    workspaceTrust: fc.constantFrom('ask' as const, 'trusted' as const),
    trustedPaths: fc.constantFrom<string[]>([], ['/p/s'], ['/q']),
    acceptance: fc.constantFrom(undefined, {
      workspace: '/p',
      acceptedAt: '',
      pinned: false,
      parts: [],
    }),
  })
  const scope = fc.constantFrom(
    'project' as const,
    'user' as const,
    'custom' as const,
    'code' as const,
  )
  const lock = fc.constantFrom('drifted' as const, 'unreadable' as const)
  fc.assert(
    fc.property(
      fc.record({ scope, directory, policy, changed: fc.boolean() }),
      lock,
      (facts, state) => {
        const without = decideTrust(facts)
        const held = decideTrust({ ...facts, lock: state })
        const inProject = facts.directory === '/p/s'
        const scoped = facts.scope === 'project' || facts.scope === 'custom'
        const lowered = without.level === 'trusted' && scoped && inProject
        const reason = state === 'drifted' ? 'lock-drift' : 'lock-unreadable'
        const code = lowered ? reason : without.code
        expect(held).toMatchObject({ level: lowered ? 'untrusted' : without.level, code })
      },
    ),
  )
})
