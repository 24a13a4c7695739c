import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideTrust, mayShadow } from '../../src/trust/skill-trust.ts'
import type { Acceptance, SkillScope, TrustLevel, TrustPolicy } from '../../src/trust/model.ts'

const workspace = '/srv/project'
const acceptance: Acceptance = {
  workspace,
  acceptedAt: '2026-11-21T00:00:00.000Z',
  pinned: false,
  parts: [],
}

function policy(facts: Partial<TrustPolicy> = {}): TrustPolicy {
  return { workspace, workspaceTrust: 'ask', trustedPaths: [], acceptance: undefined, ...facts }
}

const skill = '/srv/project/.skillrail/skills/a'

describe('decideTrust', () => {
  it.each<[SkillScope, string | undefined, Partial<TrustPolicy>, boolean, TrustLevel, string]>([
    ['code', undefined, {}, false, 'trusted', 'registered-by-program'],
    ['user', '/home/u/.skillrail/skills/a', {}, false, 'trusted', 'user-scope'],
    ['project', skill, {}, false, 'untrusted', 'workspace-not-accepted'],
    ['project', skill, { acceptance }, false, 'trusted', 'workspace-accepted'],
    ['project', skill, { acceptance }, true, 'untrusted', 'workspace-changed'],
    ['project', skill, { workspaceTrust: 'trusted' }, true, 'trusted', 'workspace-option'],
    ['project', '/srv/project-b/s', { acceptance }, false, 'untrusted', 'outside-workspace'],
    [
      'project',
      '/elsewhere/a',
      { workspaceTrust: 'trusted' },
      false,
      'untrusted',
      'outside-workspace',
    ],
    ['project', undefined, { acceptance }, false, 'untrusted', 'directory-unreadable'],
    ['project', skill, { trustedPaths: ['/srv'] }, true, 'trusted', 'trusted-path'],
    ['custom', '/opt/s', {}, false, 'untrusted', 'custom-path'],
    ['custom', skill, { acceptance }, false, 'untrusted', 'custom-path'],
    ['custom', '/opt/s', { workspaceTrust: 'trusted' }, false, 'untrusted', 'custom-path'],
    ['custom', '/opt/s', { trustedPaths: ['/opt'] }, false, 'trusted', 'trusted-path'],
    ['custom', '/opt', { trustedPaths: ['/opt'] }, false, 'trusted', 'trusted-path'],
    ['custom', '/opt-evil/s', { trustedPaths: ['/opt'] }, false, 'untrusted', 'custom-path'],
    ['custom', '/opt/../etc/s', { trustedPaths: ['/opt'] }, false, 'untrusted', 'custom-path'],
  ])(
    'decides for scope %s at %s with %j, changed %s: %s, %s',
    (scope, directory, facts, changed, level, code) => {
      expect(decideTrust({ scope, directory, policy: policy(facts), changed })).toMatchObject({
        level,
        code,
      })
    },
  )

  it('ignores an acceptance of another workspace', () => {
    const other = { ...acceptance, workspace: '/srv/other' }
    const facts = {
      scope: 'project',
      directory: skill,
      policy: policy({ acceptance: other }),
    } as const
    expect(decideTrust({ ...facts, changed: false }).code).toBe('workspace-not-accepted')
  })

  it('trusts single accepted skills, and nothing else in their workspace', () => {
    const some = policy({ acceptance: { ...acceptance, skills: ['.skillrail/skills/a'] } })
    const levelAt = (directory: string) =>
      decideTrust({ scope: 'project', directory, policy: some }).code
    expect(levelAt(skill)).toBe('workspace-accepted')
    for (const other of [`${skill}b`, `${skill}/nested`, '/srv/project', '/srv/project/.skillrail'])
      expect(levelAt(other)).toBe('workspace-not-accepted')
  })

  const segment = fc.stringMatching(/^[a-z.][a-z0-9.-]{0,6}$/)
  const absolute = fc.array(segment, { maxLength: 5 }).map((names) => `/${names.join('/')}`)
  const facts = fc.record({
    scope: fc.constantFrom('project' as const, 'custom' as const),
    directory: fc.option(absolute, { nil: undefined }),
    changed: fc.boolean(),
    policy: fc.record({
      workspace: absolute,
      workspaceTrust: fc.constantFrom('ask' as const, 'trusted' as const),
      trustedPaths: fc.array(absolute, { maxLength: 3 }),
      acceptance: fc.option(
        absolute.map((path) => ({ ...acceptance, workspace: path })),
        {
          nil: undefined,
        },
      ),
    }),
  })

  it('trusts no project and no path that neither the user nor the caller named', () => {
    fc.assert(
      fc.property(facts, (input) => {
        const nobody = { ...input.policy, workspaceTrust: 'ask', trustedPaths: [] } as const
        const verdict = decideTrust({ ...input, policy: { ...nobody, acceptance: undefined } })
        expect(verdict.level).toBe('untrusted')
      }),
      { numRuns: 2000 },
    )
  })

  it('trusts only directories inside a trusted place, and gives that place as the reason', () => {
    fc.assert(
      fc.property(facts, (input) => {
        const verdict = decideTrust(input)
        if (verdict.level === 'untrusted') return
        const roots =
          verdict.code === 'trusted-path' ? input.policy.trustedPaths : [input.policy.workspace]
        expect(roots.some((root) => contains(root, input.directory ?? 'nowhere'))).toBe(true)
        expect(verdict.code === 'workspace-accepted' && input.changed).toBe(false)
        expect(verdict.code !== 'trusted-path' && input.scope === 'custom').toBe(false)
      }),
      { numRuns: 5000 },
    )
  })

  it('never gives more trust because something changed', () => {
    fc.assert(
      fc.property(facts, (input) => {
        const before = decideTrust({ ...input, changed: false }).level
        const after = decideTrust({ ...input, changed: true }).level
        expect(before === 'untrusted' && after === 'trusted').toBe(false)
      }),
    )
  })
})

/** Containment by path segments, written another way than the code under test. */
function contains(root: string, path: string): boolean {
  const above = segments(root)
  const below = segments(path)
  return above.every((name, index) => below[index] === name)
}

function segments(path: string): string[] {
  const result: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') result.pop()
    else if (name !== '' && name !== '.') result.push(name)
  }
  return result
}

describe('mayShadow', () => {
  it.each<[TrustLevel, TrustLevel, boolean]>([
    ['trusted', 'trusted', true],
    ['trusted', 'untrusted', true],
    ['untrusted', 'untrusted', true],
    ['untrusted', 'trusted', false],
  ])('lets a skill of level %s hide one of level %s: %s', (upper, lower, allowed) => {
    expect(mayShadow(upper, lower)).toBe(allowed)
  })
})
