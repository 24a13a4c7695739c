import { describe, expect, it } from 'vitest'
import { decideTrust, isUnderLock } from '../../src/trust/skill-trust.ts'
import type { SkillScope, TrustPolicy } from '../../src/trust/model.ts'

const workspace = '/srv/project'
const inside = '/srv/project/skills/a'
const policy: TrustPolicy = {
  workspace,
  workspaceTrust: 'trusted',
  trustedPaths: ['/opt'],
  acceptance: undefined,
}

describe('a lock of the project', () => {
  it.each<[SkillScope, string | undefined, boolean]>([
    ['project', inside, true],
    ['custom', inside, true],
    ['project', workspace, true],
    ['project', '/srv/project-b/a', false],
    ['custom', '/opt/a', false],
    ['project', undefined, false],
    ['user', inside, false],
    ['code', inside, false],
  ])('applies to a skill of scope %s at %s: %s', (scope, directory, holds) => {
    expect(isUnderLock({ scope, directory, policy })).toBe(holds)
  })

  it.each<[SkillScope, string, 'drifted' | 'unreadable' | undefined, string]>([
    ['project', inside, undefined, 'workspace-option'],
    ['project', inside, 'drifted', 'lock-drift'],
    ['project', inside, 'unreadable', 'lock-unreadable'],
    ['custom', '/opt/a', 'drifted', 'trusted-path'],
    ['user', inside, 'drifted', 'user-scope'],
    ['code', inside, 'unreadable', 'registered-by-program'],
  ])('lowers the level: scope %s at %s with the lock %s is %s', (scope, directory, lock, code) => {
    expect(decideTrust({ scope, directory, policy, changed: false, lock }).code).toBe(code)
  })

  it('raises no level, and an untrusted skill keeps its own reason', () => {
    const ask: TrustPolicy = { ...policy, workspaceTrust: 'ask' }
    const facts = { scope: 'project', directory: inside, policy: ask, changed: false } as const
    expect(decideTrust({ ...facts, lock: 'drifted' }).code).toBe('workspace-not-accepted')
  })
})
