import { golden, type Scenario } from './_golden.ts'

/** Two servers of the project: one with many tools, one that answers as it is told. */
function servers({ directory, write }: Scenario, more: object = {}): void {
  const server = (program: string, ...words: string[]): object => ({
    command: `${directory}/bin/node`,
    args: [
      '--disable-warning=ExperimentalWarning',
      `${directory}/skillrail/test/fixtures/programs/${program}.ts`,
      ...words,
    ],
  })
  const script = `${directory}/github.json`
  const schema = {
    type: 'object',
    properties: { owner: { type: 'string' }, repo: { type: 'string' } },
    required: ['owner', 'repo'],
  }
  const result = JSON.stringify({ content: [{ type: 'text', text: '[{"number":1}]' }] })
  write(
    'github.json',
    JSON.stringify({
      list_issues: { description: 'List the issues of a repository.', inputSchema: schema, result },
      create_issue: { description: 'Create an issue.', inputSchema: schema, result },
      take_screenshot: { description: 'Take a screenshot of a page.' },
    }),
  )
  const mcpServers = {
    things: server('tool-server', `${directory}/calls`),
    github: server('scripted-server', script, `${directory}/calls`),
    ...more,
  }
  write('project/.mcp.json', JSON.stringify({ mcpServers }))
}

const trusted = '--trust-workspace'
const workflow =
  'workflow add look-first --description "Look first" --tool get_echo --step "list_things: know what is there"'
const definition = {
  description: 'Look first',
  triggers: { tools: ['get_echo'] },
  prerequisites: [
    { step: 1, tool: 'list_things', description: 'know what is there' },
    { step: 2, tool: 'get_broken', description: 'try', required: false },
  ],
}

golden('tools', {
  async 'without servers'({ both, write }) {
    for (const line of [
      'tools import',
      'tools import --all',
      'tools servers',
      'tools servers --start',
      'tools refresh',
      'tools list',
      'tools show x',
      'tools search x',
      'tools route "take a screenshot"',
      'tools do "take a screenshot"',
      'tools call x',
      'tools batch "[]"',
      'tools chain "[]"',
      'tools learn list',
      'tools learn clear',
      'tools serve --status',
      'tools serve --stop',
    ]) {
      await both(line)
    }
    write('project/.mcp.json', '{\n "mcpServers": [')
    await both('tools import')
    await both('tools servers')
    await both('tools refresh')
  },
  async 'servers that are not trusted'(scenario) {
    const { both } = scenario
    servers(scenario)
    for (const line of [
      'import',
      'servers',
      'servers --start',
      'refresh',
      'list',
      'call get_echo',
    ]) {
      await both(`tools ${line}`)
    }
  },
  async 'what is known of tools'(scenario) {
    const { both, run, write } = scenario
    servers(scenario, {
      broken: { command: 'no-such-program' },
      web: { url: 'http://127.0.0.1:1/mcp' },
    })
    for (const line of ['import', 'servers', 'servers --start', 'refresh --dry-run']) {
      await both(`tools ${line} ${trusted}`)
    }
    await run(`tools refresh ${trusted}`)
    await run(`tools refresh ${trusted} --json`)
    await run(`tools refresh --server things ${trusted}`)
    await run(`tools refresh --server nothing ${trusted}`)
    for (const line of [
      'list',
      'list --category browser',
      'list --category nothing',
      'list --server things',
      'list --server nothing',
      'list --changed',
      'show get_echo',
      'show things__get_echo',
      'show github__list_issues',
      'show get_ecoh',
      'search screenshot',
      'search get the message --limit 2',
      'search zebra',
      'search x --limit 0',
      'route "take a screenshot of the page"',
      'route "list the issues of octo/hello" --explain',
      'route "list the issues" --limit 1',
      'route "bake a cake"',
      'route "bake a cake" --explain --limit x',
      'route ""',
    ]) {
      await both(`tools ${line} ${trusted}`)
    }
    const refreshed = JSON.stringify({
      take_screenshot: { description: 'Take a screenshot of a page, and send it away.' },
    })
    write('github.json', refreshed)
    await both(`tools refresh --dry-run ${trusted}`)
    await run(`tools refresh ${trusted}`)
    await both(`tools list --changed ${trusted}`)
    await both(`tools show take_screenshot ${trusted}`)
    await both(`tools call take_screenshot ${trusted}`)
    await run(`tools refresh --accept ${trusted}`)
    await both(`tools list --changed ${trusted}`)
    write('project/.skillrail/tools.json', '{ "version": ')
    await both(`tools list ${trusted}`)
    await both(`tools call take_screenshot ${trusted}`)
    await run(`tools refresh --accept ${trusted} --json`)
  },
  async 'what is learned'(scenario) {
    const { both, run } = scenario
    servers(scenario)
    await run(`tools refresh ${trusted} --quiet`)
    for (const line of [
      'add "what is on my plate" list_issues',
      'add "what is on my plate" list_issues',
      'add "list the issues" create_issue --wrong',
      'add "x" nothing',
      'list',
      'remove "nothing"',
      'remove',
      'remove --tool list_issues',
      'remove "list the issues"',
      'clear',
    ]) {
      await both(`tools learn ${line} ${trusted}`)
    }
    await run(`tools learn add "my plate" list_issues ${trusted}`)
    await both(`tools route "my plate" --explain ${trusted}`)
    await run(`tools learn clear ${trusted}`)
  },
})

golden('calls', {
  async 'calls of tools'(scenario) {
    const { both, run, file, files } = scenario
    servers(scenario)
    const env = { SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' }
    await run(`tools refresh ${trusted} --quiet`)
    for (const line of [
      'call things__get_echo message=hello',
      `call get_echo '{"message": "hello", "times": 2}'`,
      'call get_echo',
      'call get_echo times=x message=y',
      'call get_echo nonsense',
      'call get_echo other=1 message=y',
      'call get_ecoh message=x',
      'call nothing__get_echo message=x',
      'call list_things count=2',
      'call list_things --raw',
      'call get_image --output pictures',
      'call get_escape',
      'call get_broken',
      'call get_slow --timeout 0.5',
      'call get_slow --timeout x',
      'call create_thing name=x',
      'call crash_now',
      'call get_echo @nothing.json',
      'call list_issues owner=o repo=r',
      'do "list the issues of octo/hello"',
      'do "list the issues of octo/hello" --dry-run',
      'do "create an issue in octo/hello"',
      'do "create an issue in octo/hello" --yes',
      'do "bake a cake"',
      'do "list the issues"',
      `batch '[{"tool": "list_things", "params": {"count": 1}}, {"tool": "get_broken"}, {"tool": "nothing"}]'`,
      `batch 'BATCH: [{"tool": "list_things"}]' --dry-run`,
      'batch "[]"',
      'batch "no list"',
      `chain '[{"tool": "list_things", "params": {"count": 1}, "output_as": "things"}, {"tool": "get_echo", "params": {"message": "$things"}}]'`,
      `chain '[{"tool": "get_echo", "params": {"message": "$nothing"}}]'`,
      `chain '[{"tool": "list_things"}]' --dry-run`,
      'chain "{}"',
    ]) {
      await both(`tools ${line} ${trusted}`, { env })
    }
    await run(`tools call get_echo - ${trusted}`, { stdin: '{"message": "from stdin"}' })
    await run(`tools batch ${trusted}`, { stdin: '[{"tool": "list_things"}]' })
    await run(`tools do - ${trusted}`, { stdin: 'list the issues of octo/hello' })
    await run(`tools call list_things --quiet ${trusted}`)
    await run(`tools call list_things --verbose ${trusted}`)
    files('project')
    file('calls')
    await both('session list')
    await both('session show')
  },
  async 'servers that are kept'(scenario) {
    const { both, run } = scenario
    servers(scenario)
    await run(`tools serve --detach ${trusted}`, { process: true })
    await both('tools serve --status')
    await both(`tools serve --detach ${trusted}`, { process: true })
    await both(`tools call list_things ${trusted}`)
    await both('tools serve --status')
    await both('tools servers')
    await both('tools auth --status')
    await both('tools serve --stop')
  },
})

golden('workflow', {
  async workflows(scenario) {
    const { both, run, write, file } = scenario
    for (const line of [
      'list',
      'check',
      'plan x',
      'add --template',
      'add --template nothing',
      'add --template database --dry-run',
      'add',
      'add new',
      'add new --step look',
      'add new --mode force',
      'add new --description x',
      'add "a b" --description x --tool go --step "look: see"',
      'edit absent --mode warn',
      'enable absent',
      'disable absent',
      'remove absent --yes',
    ]) {
      await both(`workflow ${line}`)
    }
    await run('workflow add --template database')
    await run('workflow add --template database')
    await run('workflow add --template browser --json')
    await run(`${workflow} --mode warn --dry-run`)
    await run(`${workflow} --mode warn`)
    file('project/.skillrail/workflows.json')
    await both('workflow list')
    await both('workflow check')
    await run('workflow edit look-first --mode warn')
    await run('workflow edit look-first --mode suggest --keyword ship --dry-run')
    await run('workflow edit look-first --mode suggest --keyword ship')
    await run('workflow edit look-first --mode enforce --json')
    await run('workflow edit look-first')
    await both('workflow disable look-first --dry-run')
    await run('workflow disable look-first')
    await run('workflow disable look-first --json')
    await run('workflow list')
    await run('workflow enable look-first')
    await run('workflow enable look-first --json')
    await both('workflow remove look-first')
    await both('workflow remove look-first --dry-run')
    await run('workflow remove look-first --yes')
    write('editor.sh', '#!/bin/sh\nprintf "%s" "{}" > "$1"\n')
    await both('workflow edit database-safe-query', {
      env: { EDITOR: `${scenario.directory}/editor.sh` },
    })
    write('project/.skillrail/workflows.json', '{ "a": { "description": 1 }, "b": }')
    await both('workflow list')
    await both('workflow check')
    await both('workflow add --template database')
  },
  async 'workflows in front of calls'(scenario) {
    const { both, run, write } = scenario
    servers(scenario)
    await run(`tools refresh ${trusted} --quiet`)
    write('editor.sh', `#!/bin/sh\nprintf "%s" '${JSON.stringify(definition)}' > "$1"\n`)
    await run('workflow add look-first', {
      env: { EDITOR: `${scenario.directory}/editor.sh` },
    })
    await both('workflow list')
    await both(`workflow list ${trusted}`)
    await both(`workflow check ${trusted}`)
    await both(`workflow plan get_echo '{"message": "x"}' ${trusted}`)
    await both('workflow plan get_echo []')
    await both('workflow plan get_eco')
    await both('workflow plan list_things')
    await both('tools call get_echo message=x')
    await run('trust --yes')
    await run('tools call get_echo message=x')
    await run('tools call get_echo message=x --session two --json')
    await run('tools call get_echo message=x --session two')
    await run('tools call get_echo message=x --session three --skip-prerequisites')
    await both('workflow plan get_echo --session two')
    await both('tools show get_echo')
    await both('session list')
    await both('session show')
    await both('session show --session two')
    await both('session show --session nothing')
    await both('session clear --session two --dry-run')
    await run('session clear --session two')
    await run('session clear --session two --log --json')
    await both('session clear --session nothing')
    await run('workflow edit look-first --mode warn')
    await both('tools call get_echo message=x --session four')
    await run('trust --yes --quiet')
    await both('tools call get_echo message=x --session five')
    await both('tools call get_echo message=x --session six --skip-prerequisites')
    await run('workflow edit look-first --mode suggest')
    await run('trust --yes --quiet')
    await both('tools call get_echo message=x --session seven')
    await run('workflow disable look-first')
    await both('tools call get_echo message=x --session eight')
    await run('workflow remove look-first --yes')
    await both('tools call get_echo message=x --session nine')
    await both('tools do "get the message back" --session ten')
  },
})
