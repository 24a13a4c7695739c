import { golden, type Scenario } from './_golden.ts'

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

golden('trust', {
  async 'one project'(scenario) {
    const { both, run, write } = scenario
    await both('trust --dry-run')
    await both('trust --list')
    project(scenario)
    for (const line of ['trust', 'trust --dry-run', 'trust nowhere', 'trust --revoke']) {
      await both(line)
    }
    await both('trust --list --revoke')
    await both('trust --pin --no-pin')
    await run('trust --yes')
    await run('trust --yes --json')
    await both('trust --list')
    await both('trust --dry-run')
    write(
      'project/.skillrail/skills/plain/SKILL.md',
      '---\nname: plain\ndescription: New. Use it.\n---\nNew.\n',
    )
    await both('trust --dry-run')
    write('project/.skillrail/skills/deploy/scripts/run.sh', '#!/bin/sh\necho two\n')
    await both('trust --dry-run')
    await both('run deploy')
    await both('show deploy')
    await both('doctor')
    await both('overview')
    await run('trust --yes --pin')
    write(
      'project/.skillrail/skills/plain/SKILL.md',
      '---\nname: plain\ndescription: Third. Use it.\n---\nNew.\n',
    )
    await both('trust --dry-run')
    await both('list')
    await run('trust --yes --no-pin --json')
    await both('trust .skillrail/skills/plain --dry-run')
    await run('trust --revoke')
    await both('trust --list')
  },
  async 'lock files'(scenario) {
    const { both, run, write, remove, file } = scenario
    await both('trust --lock')
    await both('trust --lock --check')
    await both('trust --unlock')
    project(scenario)
    await both('trust --lock --check')
    await both('trust --lock --dry-run')
    await run('trust --lock')
    await run('trust --lock --yes')
    await run('trust --lock --yes --json')
    file('project/.skillrail/skills.lock.json')
    file('project/.skillrail/skills/skillrail.lock')
    scenario.files('project')
    await both('trust --lock --check')
    write('project/.skillrail/skills/deploy/scripts/run.sh', '#!/bin/sh\necho two\n')
    remove('project/.skillrail/skills/plain')
    await both('trust --lock --check')
    await both('trust --dry-run')
    await both('list')
    await both('show deploy')
    await both('run deploy --trust-workspace')
    await run('trust --unlock --yes')
    await both('trust --unlock')
  },
})
