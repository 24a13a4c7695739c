import { it } from 'vitest'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

function project({ skill, write }: Scenario): void {
  skill('deploy', { head: 'allowed-tools: Bash(git:*) Read', run: 'echo one' })
  skill('plain')
  const shop = { command: 'npx', args: ['database', '--port', '1'] }
  write('project/.mcp.json', JSON.stringify({ mcpServers: { shop } }))
  write(
    'project/.skillrail/agents/helper.md',
    '---\nname: helper\ndescription: Helps.\n---\nHelp.\n',
  )
}

it('trusts a project until it changes', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run, write } = scenario
      await json('trust --dry-run')
      await json('trust --list')
      project(scenario)
      for (const line of ['trust', 'trust --dry-run', 'trust nowhere', 'trust --revoke']) {
        await json(line)
      }
      await json('trust --list --revoke')
      await json('trust --pin --no-pin')
      await run('trust --yes')
      await run('trust --yes --json')
      await json('trust --list')
      await json('trust --dry-run')
      write(
        'project/.skillrail/skills/plain/SKILL.md',
        '---\nname: plain\ndescription: New. Use it.\n---\nNew.\n',
      )
      await json('trust --dry-run')
      write('project/.skillrail/skills/deploy/scripts/run.sh', '#!/bin/sh\necho two\n')
      await json('trust --dry-run')
      await json('run deploy')
      await json('show deploy')
      await run('doctor')
      await json('')
      await run('trust --yes --pin')
      write(
        'project/.skillrail/skills/plain/SKILL.md',
        '---\nname: plain\ndescription: Third. Use it.\n---\nNew.\n',
      )
      await json('trust --dry-run')
      await json('list')
      await run('trust --yes --no-pin --json')
      await json('trust .skillrail/skills/plain --dry-run')
      await run('trust --revoke')
      await json('trust --list')
    },
    [
      '0 trust --dry-run → state=untrusted was=untrusted',
      '0 trust --list',
      '4 trust → workspace-not-trusted',
      '0 trust --dry-run → state=untrusted was=untrusted',
      '2 trust nowhere → path-missing',
      '0 trust --revoke',
      '2 trust --list --revoke → wrong-use',
      '2 trust --pin --no-pin → wrong-use',
      '0 trust --yes',
      '0 trust --yes → state=trusted was=trusted',
      '0 trust --list',
      '0 trust --dry-run → state=trusted was=trusted',
      '0 trust --dry-run → state=trusted was=trusted',
      '0 trust --dry-run → change=changed state=changed was=changed',
      '4 run deploy → part-changed skill-not-trusted',
      '0 show deploy → trust=untrusted',
      '0 doctor',
      '0  → state=not trusted status=warning',
      '0 trust --yes --pin',
      '0 trust --dry-run → change=changed state=changed was=changed',
      '0 list → trust=trusted trust=untrusted workspace-changed',
      '0 trust --yes --no-pin → change=changed state=trusted was=changed',
      '0 trust .skillrail/skills/plain --dry-run → state=trusted was=trusted',
      '0 trust --revoke',
      '0 trust --list',
    ],
  ),
)

it('locks skills and reports what differs from the lock file', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run, write, remove } = scenario
      await json('trust --lock')
      await json('trust --lock --check')
      await json('trust --unlock')
      project(scenario)
      await json('trust --lock --check')
      await json('trust --lock --dry-run')
      await run('trust --lock')
      await run('trust --lock --yes')
      await run('trust --lock --yes --json')
      await json('trust --lock --check')
      write('project/.skillrail/skills/deploy/scripts/run.sh', '#!/bin/sh\necho two\n')
      remove('project/.skillrail/skills/plain')
      await json('trust --lock --check')
      await json('trust --dry-run')
      await json('list')
      await json('show deploy')
      await json('run deploy --trust-workspace')
      await run('trust --unlock --yes')
      await json('trust --unlock')
    },
    [
      '3 trust --lock → state=none state=untrusted was=none',
      '1 trust --lock --check → lock-file-missing state=none',
      '0 trust --unlock',
      '1 trust --lock --check → lock-file-missing state=none',
      '0 trust --lock --dry-run → state=none state=untrusted was=none',
      '4 trust --lock',
      '0 trust --lock --yes',
      '0 trust --lock --yes → state=locked was=locked',
      '0 trust --lock --check → state=locked',
      '1 trust --lock --check → change=changed change=removed state=drifted',
      '0 trust --dry-run → change=changed change=removed state=changed state=drifted was=changed',
      '0 list → trust=untrusted workspace-changed',
      '0 show deploy → trust=untrusted',
      '4 run deploy --trust-workspace → skill-not-trusted',
      '0 trust --unlock --yes',
      '0 trust --unlock',
    ],
  ),
)
