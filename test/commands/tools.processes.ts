import { it } from 'vitest'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

/** Two servers of the project: one with many tools, one that answers as it is told. */
function servers({ directory, write }: Scenario, more: object = {}): void {
  const server = (program: string, ...words: string[]): object => ({
    command: `${directory}/bin/node`,
    args: [`${directory}/skillrail/test/fixtures/programs/${program}.mjs`, ...words],
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
/** An editor that writes a mode into the definition that it is given. */
function editorTo({ write, directory }: Scenario, mode: string) {
  const line = `/bin/sed -i 's/"mode": "[a-z]*"/"mode": "'"$1"'"/' "$2"`
  write('mode.sh', `#!/bin/sh\n${line}\n`)
  return { env: { EDITOR: `${directory}/mode.sh ${mode}` } }
}

const definition = {
  description: 'Look first',
  mode: 'enforce',
  triggers: { tools: ['get_echo'] },
  prerequisites: [
    { step: 1, tool: 'list_things', description: 'know what is there' },
    { step: 2, tool: 'get_broken', description: 'try', required: false },
  ],
}

it('answers without any server', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ json, write }) => {
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
        'tools serve --status',
        'tools serve --stop',
      ]) {
        await json(line)
      }
      write('project/.mcp.json', '{\n "mcpServers": [')
      await json('tools import')
      await json('tools servers')
      await json('tools refresh')
    },
    [
      '0 tools import',
      '0 tools import --all → state=missing',
      '0 tools servers',
      '3 tools servers --start → no-servers',
      '3 tools refresh → no-servers',
      '0 tools list → state=missing',
      '3 tools show x → no-servers',
      '3 tools search x → no-servers',
      '3 tools route "take a screenshot" → no-servers',
      '3 tools do "take a screenshot" → no-servers',
      '3 tools call x → no-servers',
      '3 tools batch "[]" → no-servers',
      '3 tools chain "[]" → no-servers',
      '3 tools serve --status',
      '0 tools serve --stop',
      '1 tools import → servers-syntax state=broken',
      '1 tools servers → servers-syntax',
      '1 tools refresh → configuration-unreadable servers-syntax',
    ],
  ),
)

it('does not start servers of an untrusted project', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json } = scenario
      servers(scenario)
      for (const line of [
        'import',
        'servers',
        'servers --start',
        'refresh',
        'list',
        'call get_echo',
      ]) {
        await json(`tools ${line}`)
      }
    },
    [
      '0 tools import → servers-untrusted state=read',
      '0 tools servers → servers-untrusted state=not trusted',
      '4 tools servers --start → servers-not-trusted',
      '4 tools refresh → servers-not-trusted',
      '0 tools list → servers-untrusted state=missing',
      '4 tools call get_echo → servers-not-trusted',
    ],
  ),
)

it('lists, shows and finds tools, and holds changed tools back', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run, write } = scenario
      servers(scenario, {
        broken: { command: 'no-such-program' },
        web: { url: 'http://127.0.0.1:1/mcp' },
      })
      for (const line of ['import', 'servers', 'servers --start', 'refresh --dry-run']) {
        await json(`tools ${line} ${trusted}`)
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
        await json(`tools ${line} ${trusted}`)
      }
      const refreshed = JSON.stringify({
        take_screenshot: { description: 'Take a screenshot of a page, and send it away.' },
      })
      write('github.json', refreshed)
      await json(`tools refresh --dry-run ${trusted}`)
      await run(`tools refresh ${trusted}`)
      await json(`tools list --changed ${trusted}`)
      await json(`tools show take_screenshot ${trusted}`)
      await json(`tools call take_screenshot ${trusted}`)
      await run(`tools refresh --accept ${trusted}`)
      await json(`tools list --changed ${trusted}`)
      write('project/.skillrail/tools.json', '{ "version": ')
      await json(`tools list ${trusted}`)
      await json(`tools call take_screenshot ${trusted}`)
      await run(`tools refresh --accept ${trusted} --json`)
    },
    [
      '0 tools import --trust-workspace → state=read',
      '0 tools servers --trust-workspace → state=usable',
      '1 tools servers --start --trust-workspace → state=failed state=running',
      '0 tools refresh --dry-run --trust-workspace',
      '0 tools refresh --trust-workspace',
      '0 tools refresh --trust-workspace',
      '0 tools refresh --server things --trust-workspace',
      '3 tools refresh --server nothing --trust-workspace',
      '0 tools list --trust-workspace → state=fresh',
      '0 tools list --category browser --trust-workspace → state=fresh',
      '3 tools list --category nothing --trust-workspace → category-not-found',
      '0 tools list --server things --trust-workspace → state=fresh',
      '3 tools list --server nothing --trust-workspace → server-not-found',
      '0 tools list --changed --trust-workspace → state=fresh',
      '0 tools show get_echo --trust-workspace',
      '0 tools show things__get_echo --trust-workspace',
      '0 tools show github__list_issues --trust-workspace',
      '3 tools show get_ecoh --trust-workspace → tool-not-found',
      '0 tools search screenshot --trust-workspace → state=fresh',
      '0 tools search get the message --limit 2 --trust-workspace → state=fresh',
      '3 tools search zebra --trust-workspace → state=fresh tool-not-found',
      '2 tools search x --limit 0 --trust-workspace → option-number',
      '0 tools route "take a screenshot of the page" --trust-workspace → decision=answer',
      '0 tools route "list the issues of octo/hello" --explain --trust-workspace → decision=answer',
      '0 tools route "list the issues" --limit 1 --trust-workspace → decision=answer',
      '3 tools route "bake a cake" --trust-workspace → decision=ask',
      '2 tools route "bake a cake" --explain --limit x --trust-workspace → option-number',
      '3 tools route "" --trust-workspace → decision=ask',
      '0 tools refresh --dry-run --trust-workspace',
      '0 tools refresh --trust-workspace',
      '0 tools list --changed --trust-workspace → state=fresh',
      '0 tools show take_screenshot --trust-workspace',
      '4 tools call take_screenshot --trust-workspace → tool-held-back',
      '0 tools refresh --accept --trust-workspace',
      '0 tools list --changed --trust-workspace → state=fresh',
      '0 tools list --trust-workspace → cache-not-json state=corrupt',
      '4 tools call take_screenshot --trust-workspace → workflows-unreadable',
      '0 tools refresh --accept --trust-workspace → cache-not-json',
    ],
  ),
)

it('calls tools one by one, in batches and in chains', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
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
        await json(`tools ${line} ${trusted}`, { env })
      }
      await run(`tools call get_echo - ${trusted}`, { stdin: '{"message": "from stdin"}' })
      await run(`tools batch ${trusted}`, { stdin: '[{"tool": "list_things"}]' })
      await run(`tools do - ${trusted}`, { stdin: 'list the issues of octo/hello' })
      await run(`tools call list_things --quiet ${trusted}`)
      await run(`tools call list_things --verbose ${trusted}`)
      await json('tools session list')
      await json('tools session show')
    },
    [
      '0 tools refresh --trust-workspace --quiet',
      '0 tools call things__get_echo message=hello --trust-workspace → status=success',
      '0 tools call get_echo \'{"message": "hello", "times": 2}\' --trust-workspace → status=success',
      '2 tools call get_echo --trust-workspace → invalid-parameters',
      '2 tools call get_echo times=x message=y --trust-workspace → invalid-parameters',
      '2 tools call get_echo nonsense --trust-workspace → wrong-parameters',
      '2 tools call get_echo other=1 message=y --trust-workspace → invalid-parameters',
      '3 tools call get_ecoh message=x --trust-workspace → tool-not-found',
      '3 tools call nothing__get_echo message=x --trust-workspace → tool-not-found',
      '0 tools call list_things count=2 --trust-workspace → status=success',
      '0 tools call list_things --raw --trust-workspace → status=success',
      '0 tools call get_image --output pictures --trust-workspace → status=success',
      '0 tools call get_escape --trust-workspace → status=success',
      '1 tools call get_broken --trust-workspace → delivered=yes execution status=error',
      '1 tools call get_slow --timeout 0.5 --trust-workspace → delivered=unknown status=error timeout',
      '2 tools call get_slow --timeout x --trust-workspace → option-number',
      '0 tools call create_thing name=x --trust-workspace → status=success',
      '1 tools call crash_now --trust-workspace → connection-lost delivered=unknown status=error',
      '2 tools call get_echo @nothing.json --trust-workspace → file-missing',
      '0 tools call list_issues owner=o repo=r --trust-workspace → status=success',
      '0 tools do "list the issues of octo/hello" --trust-workspace → decidedBy=words decision=answer status=success',
      '0 tools do "list the issues of octo/hello" --dry-run --trust-workspace → decidedBy=words decision=answer',
      '4 tools do "create an issue in octo/hello" --trust-workspace → tool-needs-yes',
      '0 tools do "create an issue in octo/hello" --yes --trust-workspace → decidedBy=words decision=answer status=success',
      '3 tools do "bake a cake" --trust-workspace → decidedBy=words decision=ask request-unclear',
      '3 tools do "list the issues" --trust-workspace → decidedBy=words decision=answer request-unclear',
      '3 tools batch \'[{"tool": "list_things", "params": {"count": 1}}, {"tool": "get_broken"}, {"tool": "nothing"}]\' --trust-workspace → tool-not-found',
      '0 tools batch \'BATCH: [{"tool": "list_things"}]\' --dry-run --trust-workspace',
      '2 tools batch "[]" --trust-workspace → batch-empty',
      '2 tools batch "no list" --trust-workspace → batch-syntax',
      '1 tools chain \'[{"tool": "list_things", "params": {"count": 1}, "output_as": "things"}, {"tool": "get_echo", "params": {"message": "$things"}}]\' --trust-workspace',
      '1 tools chain \'[{"tool": "get_echo", "params": {"message": "$nothing"}}]\' --trust-workspace',
      '0 tools chain \'[{"tool": "list_things"}]\' --dry-run --trust-workspace',
      '2 tools chain "{}" --trust-workspace → chain-syntax',
      '0 tools call get_echo - --trust-workspace',
      '0 tools batch --trust-workspace',
      '0 tools do - --trust-workspace',
      '0 tools call list_things --quiet --trust-workspace',
      '0 tools call list_things --verbose --trust-workspace',
      '0 tools session list',
      '0 tools session show → outcome=connection-lost outcome=execution outcome=success outcome=timeout',
    ],
  ),
)

it('keeps servers running and stops them', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      servers(scenario)
      await run(`tools serve --detach ${trusted}`, { process: true })
      await json('tools serve --status')
      await json(`tools serve --detach ${trusted}`, { process: true })
      await json(`tools call list_things ${trusted}`)
      await json('tools serve --status')
      await json('tools servers')
      await json('tools auth --status')
      await json('tools serve --stop')
    },
    [
      '0 tools serve --detach --trust-workspace',
      '0 tools serve --status → state=idle',
      '0 tools serve --detach --trust-workspace',
      '0 tools call list_things --trust-workspace → status=success',
      '0 tools serve --status → state=running',
      '0 tools servers → servers-untrusted state=running',
      '0 tools auth --status',
      '0 tools serve --stop',
    ],
  ),
)

it('adds, edits and removes workflows', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run, write } = scenario
      for (const line of [
        'list',
        'check',
        'plan x',
        'add --template',
        'add --template nothing',
        'add --template database --dry-run',
        'add',
        'add new',
        'add new absent.json',
        'edit absent',
        'enable absent',
        'disable absent',
        'remove absent --yes',
      ]) {
        await json(`tools workflow ${line}`)
      }
      await run('tools workflow add --template database')
      await run('tools workflow add --template database')
      await run('tools workflow add --template browser --json')
      write('project/look-first.json', JSON.stringify({ ...definition, mode: 'warn' }))
      await json('tools workflow add "a b" look-first.json')
      await run('tools workflow add look-first look-first.json --dry-run')
      await run('tools workflow add look-first look-first.json')
      await json('tools workflow list')
      await json('tools workflow check')
      await run('tools workflow edit look-first', editorTo(scenario, 'warn'))
      await run('tools workflow edit look-first --dry-run', editorTo(scenario, 'suggest'))
      await run('tools workflow edit look-first', editorTo(scenario, 'suggest'))
      await run('tools workflow edit look-first --json', editorTo(scenario, 'enforce'))
      await run('tools workflow edit look-first')
      await json('tools workflow disable look-first --dry-run')
      await run('tools workflow disable look-first')
      await run('tools workflow disable look-first --json')
      await run('tools workflow list')
      await run('tools workflow enable look-first')
      await run('tools workflow enable look-first --json')
      await json('tools workflow remove look-first')
      await json('tools workflow remove look-first --dry-run')
      await run('tools workflow remove look-first --yes')
      write('editor.sh', '#!/bin/sh\nprintf "%s" "{}" > "$1"\n')
      await json('tools workflow edit database-safe-query', {
        env: { EDITOR: `${scenario.directory}/editor.sh` },
      })
      write('project/.skillrail/workflows.json', '{ "a": { "description": 1 }, "b": }')
      await json('tools workflow list')
      await json('tools workflow check')
      await json('tools workflow add --template database')
    },
    [
      '0 tools workflow list',
      '0 tools workflow check',
      '3 tools workflow plan x → no-servers',
      '0 tools workflow add --template',
      '2 tools workflow add --template nothing → template-unknown',
      '0 tools workflow add --template database --dry-run → change=added',
      '2 tools workflow add → wrong-use',
      '2 tools workflow add new → no-terminal',
      '2 tools workflow add new absent.json → file-missing',
      '3 tools workflow edit absent → workflow-not-found',
      '3 tools workflow enable absent → workflow-not-found',
      '3 tools workflow disable absent → workflow-not-found',
      '3 tools workflow remove absent --yes → workflow-not-found',
      '0 tools workflow add --template database',
      '1 tools workflow add --template database',
      '0 tools workflow add --template browser → change=added',
      '2 tools workflow add "a b" look-first.json → workflow-invalid workflow-name',
      '0 tools workflow add look-first look-first.json --dry-run',
      '0 tools workflow add look-first look-first.json',
      '0 tools workflow list → workflow-not-trusted',
      '0 tools workflow check → workflow-not-trusted',
      '0 tools workflow edit look-first',
      '0 tools workflow edit look-first --dry-run',
      '0 tools workflow edit look-first',
      '0 tools workflow edit look-first → change=changed',
      '2 tools workflow edit look-first',
      '0 tools workflow disable look-first --dry-run → change=disabled',
      '0 tools workflow disable look-first',
      '0 tools workflow disable look-first → change=disabled',
      '0 tools workflow list',
      '0 tools workflow enable look-first',
      '0 tools workflow enable look-first → change=enabled',
      '4 tools workflow remove look-first → workflow-not-confirmed',
      '0 tools workflow remove look-first --dry-run → change=removed',
      '0 tools workflow remove look-first --yes',
      '2 tools workflow edit database-safe-query → workflow-field-missing workflow-invalid',
      '1 tools workflow list → workflows-syntax',
      '1 tools workflow check → workflows-syntax',
      '1 tools workflow add --template database → workflows-syntax',
    ],
  ),
)

it('enforces workflows before calls', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run, write } = scenario
      servers(scenario)
      await run(`tools refresh ${trusted} --quiet`)
      write('editor.sh', `#!/bin/sh\nprintf "%s" '${JSON.stringify(definition)}' > "$1"\n`)
      await run('tools workflow add look-first', {
        env: { EDITOR: `${scenario.directory}/editor.sh` },
      })
      await json('tools workflow list')
      await json(`tools workflow list ${trusted}`)
      await json(`tools workflow check ${trusted}`)
      await json(`tools workflow plan get_echo '{"message": "x"}' ${trusted}`)
      await json('tools workflow plan get_echo []')
      await json('tools workflow plan get_eco')
      await json('tools workflow plan list_things')
      await json('tools call get_echo message=x')
      await run('trust --yes')
      await run('tools call get_echo message=x')
      await run('tools call get_echo message=x --session two --json')
      await run('tools call get_echo message=x --session two')
      await run('tools call get_echo message=x --session three --skip-prerequisites')
      await json('tools workflow plan get_echo --session two')
      await json('tools show get_echo')
      await json('tools session list')
      await json('tools session show')
      await json('tools session show --session two')
      await json('tools session show --session nothing')
      await json('tools session clear --session two --dry-run')
      await run('tools session clear --session two')
      await run('tools session clear --session two --log --json')
      await json('tools session clear --session nothing')
      await run('tools workflow edit look-first', editorTo(scenario, 'warn'))
      await json('tools call get_echo message=x --session four')
      await run('trust --yes --quiet')
      await json('tools call get_echo message=x --session five')
      await json('tools call get_echo message=x --session six --skip-prerequisites')
      await run('tools workflow edit look-first', editorTo(scenario, 'suggest'))
      await run('trust --yes --quiet')
      await json('tools call get_echo message=x --session seven')
      await run('tools workflow disable look-first')
      await json('tools call get_echo message=x --session eight')
      await run('tools workflow remove look-first --yes')
      await json('tools call get_echo message=x --session nine')
      await json('tools do "get the message back" --session ten')
    },
    [
      '0 tools refresh --trust-workspace --quiet',
      '0 tools workflow add look-first',
      '0 tools workflow list → workflow-not-trusted',
      '0 tools workflow list --trust-workspace',
      '0 tools workflow check --trust-workspace',
      '0 tools workflow plan get_echo \'{"message": "x"}\' --trust-workspace → status=run',
      '2 tools workflow plan get_echo [] → wrong-use',
      '4 tools workflow plan get_eco → servers-not-trusted',
      '0 tools workflow plan list_things',
      '4 tools call get_echo message=x → workflow-not-trusted',
      '0 trust --yes',
      '0 tools call get_echo message=x',
      '0 tools call get_echo message=x --session two → status=success',
      '0 tools call get_echo message=x --session two',
      '0 tools call get_echo message=x --session three --skip-prerequisites',
      '0 tools workflow plan get_echo --session two → status=run status=valid',
      '0 tools show get_echo',
      '0 tools session list',
      '0 tools session show → outcome=execution outcome=success',
      '0 tools session show --session two → outcome=execution outcome=success',
      '3 tools session show --session nothing → session-not-found',
      '0 tools session clear --session two --dry-run',
      '0 tools session clear --session two',
      '0 tools session clear --session two --log',
      '3 tools session clear --session nothing → session-not-found',
      '0 tools workflow edit look-first',
      '4 tools call get_echo message=x --session four → workflow-not-trusted',
      '0 trust --yes --quiet',
      '0 tools call get_echo message=x --session five → status=success',
      '0 tools call get_echo message=x --session six --skip-prerequisites → status=success',
      '0 tools workflow edit look-first',
      '0 trust --yes --quiet',
      '0 tools call get_echo message=x --session seven → status=success',
      '0 tools workflow disable look-first',
      '0 tools call get_echo message=x --session eight → status=success',
      '0 tools workflow remove look-first --yes',
      '0 tools call get_echo message=x --session nine → status=success',
      '3 tools do "get the message back" --session ten → decidedBy=words decision=shortlist request-unclear',
    ],
  ),
)
