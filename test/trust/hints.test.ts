import { expect, it } from 'vitest'
import { allowingHint } from '../../src/trust/skill-trust.ts'
import type { TrustPolicy } from '../../src/trust/model.ts'
import type { TrustReason } from '../../src/trust/model.ts'

const policy: TrustPolicy = {
  workspace: '/srv/project',
  workspaceTrust: 'ask',
  trustedPaths: [],
  acceptance: undefined,
}

const inside = '/srv/project/.skillrail/skills/a'

it.each<[TrustReason, string, string]>([
  [
    'workspace-not-accepted',
    inside,
    'To see what it may do and allow it: skillrail trust /srv/project (in CI: --trust-workspace).',
  ],
  ['workspace-changed', inside, 'To see what changed and accept it: skillrail trust /srv/project'],
  // Skills of a nested folder are seen from there.
  [
    'workspace-changed',
    '/srv/project/api/.skillrail/skills/a',
    'To see what changed and accept it: skillrail trust /srv/project/api/.skillrail/skills',
  ],
  [
    'lock-drift',
    inside,
    'To see what differs: skillrail trust /srv/project --lock --check; to lock it as it is now: skillrail trust /srv/project --lock',
  ],
  [
    'lock-unreadable',
    inside,
    'To see what is wrong with it: skillrail trust /srv/project --lock --check; to do without it: skillrail trust /srv/project --unlock',
  ],
  [
    'custom-path',
    "/opt/it's here",
    String.raw`To allow it, add '/opt/it'\''s here' to skills.trustedPaths in your own configuration file.`,
  ],
])('a refusal for %s of %s says how to allow it', (reason, directory, hint) => {
  const skill = { name: 'a', scope: 'project', directory } as const
  expect(allowingHint(reason, skill, policy)).toBe(hint)
})
