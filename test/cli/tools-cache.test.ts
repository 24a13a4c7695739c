import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

const server = new URL('../fixtures/programs/tool-lister.mjs', import.meta.url).pathname

let project: string
let home: string

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(['--trust-workspace', ...args], { cwd: project, home })
}

function entry(tools: readonly object[]): object {
  return { command: process.execPath, args: [server], env: { TOOLS: JSON.stringify(tools) } }
}

const listIssues = {
  name: 'list_issues',
  description: 'List issues\u001b[31m of a repository',
  inputSchema: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
      repo: { type: 'string', description: 'owner/repo' },
    },
    required: ['repo'],
  },
  annotations: { readOnlyHint: true },
}

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-tools-cli-')))
  home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-tools-home-')))
  mkdirSync(join(project, '.git'))
  writeFileSync(
    join(project, '.mcp.json'),
    JSON.stringify({
      mcpServers: {
        github: entry([listIssues, { name: 'create_issue', inputSchema: { type: 'object' } }]),
        failing: {
          command: process.execPath,
          args: ['-e', 'console.error("noise\\nError: no key\\nmore noise"); process.exit(3)'],
        },
      },
    }),
  )
})

describe('the commands about cached tools', () => {
  it('ask the servers in refresh, report in the format’s words and continue after a failure', async () => {
    const dry = await skillrail('tools', 'refresh', '--dry-run')
    expect(dry.stdout).toContain('nothing written')
    const { code, stdout } = await skillrail('tools', 'refresh')
    expect(stdout).toContain(
      [
        'Agent Skill Tools Index Refreshed:',
        'Categories:',
        '  - github: 2 tools',
        'Summary:',
        '  - Total tools: 2',
        '  - Categories: 1',
        `  - Cache: ${join(project, '.skillrail', 'tools.json')}`,
        'Changes:',
        '  - 2 added: github__create_issue, github__list_issues',
        'Servers that could not be listed:',
      ].join('\n'),
    )
    expect(stdout).toContain('ended with exit code 3: Error: no key\n')
    expect(stdout).not.toContain('noise')
    expect(code).toBe(0)
  }, 60_000)

  it('read the cache in list, show and search, and start nothing', async () => {
    writeFileSync(join(project, '.skillrail', 'workflows.json'), workflows)
    const listed = await skillrail('tools', 'list', '--category', 'version-control')
    expect(listed.stdout).toContain(
      '  github__list_issues     List issues\\x1b[31m of a repository',
    )
    expect(listed.stderr).toContain('failing is configured and failing')
    const shown = await skillrail('tools', 'show', 'list_issues')
    expect(shown.stdout).toContain('  repo*  string\n      owner/repo\n  state  "open" | "closed"')
    expect(shown.stdout).toContain('default "open"')
    expect(shown.stdout).toMatch(/Workflow +look-first \[warn\], first: create_issue/)
    const found = await skillrail('tools', 'search', 'issues', 'of', 'a', 'repository')
    expect(found.stdout.split('\n')[0]).toContain('github__list_issues')
    expect(found.code).toBe(0)
  }, 60_000)

  it('print one document each with --json', async () => {
    const [listed, shown, found, refreshed] = await Promise.all([
      skillrail('tools', 'list', '--json'),
      skillrail('tools', 'show', 'github__list_issues', '--json'),
      skillrail('tools', 'search', 'issues', '--json'),
      skillrail('tools', 'refresh', '--dry-run', '--json'),
    ])
    expect(JSON.parse(listed.stdout)).toMatchObject({
      state: 'fresh',
      tools: [{ id: 'github__create_issue' }, { id: 'github__list_issues', category: 'github' }],
    })
    expect(JSON.parse(shown.stdout)).toMatchObject({
      tool: { required: ['repo'], readOnly: true },
      definition: { inputSchema: listIssues.inputSchema },
      workflows: ['look-first'],
    })
    expect(JSON.parse(found.stdout).tools).toHaveLength(2)
    expect(JSON.parse(refreshed.stdout)).toMatchObject({ dryRun: true, tools: 2 })
  }, 60_000)

  it('search the servers for an unknown tool, then suggest names', async () => {
    const { code, stderr } = await skillrail('tools', 'show', 'github__list_isues')
    expect(stderr).toContain('Error: Tool not found: github__list_isues')
    expect(stderr).toContain('Suggestions: github__list_issues')
    expect(stderr).toContain('Next: confirm the intended tool or run skillrail tools refresh.')
    expect(code).toBe(3)
  }, 60_000)

  it.each([
    ['Github__List-Issues', 'github__list_issues'],
    ['list-issues', 'github__list_issues'],
    ['github/create_issue', 'github__create_issue'],
  ])('find a tool in another spelling: %s shows %s', async (name, id) => {
    const { code, stdout, stderr } = await skillrail('tools', 'show', name)
    expect(stdout.split('\n')[0]).toBe(id)
    expect(stderr).toContain(`There is no tool ${name}; ${id} was taken`)
    expect(code).toBe(0)
  })

  it('keep a corrupt cache while they read, and move it aside in a refresh', async () => {
    const path = join(project, '.skillrail', 'tools.json')
    writeFileSync(path, '{ oops')
    const listed = await skillrail('tools', 'list')
    expect(listed.stderr).toContain('Cache missing or invalid at')
    expect(listed.stderr).toContain(
      'Cache appears stale or missing. Run `skillrail tools refresh` to rebuild tool metadata.',
    )
    expect(listed.stdout).toContain('github__list_issues')
    expect(readFileSync(path, 'utf8')).toBe('{ oops')
    const { stdout } = await skillrail('tools', 'refresh')
    expect(stdout).toMatch(/^The old cache was corrupt and is kept at .*tools\.json\.corrupt-/)
  }, 60_000)

  it('change nothing if a configuration cannot be read, and name its line', async () => {
    const path = join(project, '.mcp.json')
    const [before, cache] = [path, join(project, '.skillrail', 'tools.json')].map((file) =>
      readFileSync(file, 'utf8'),
    )
    writeFileSync(path, '{"mcpServers": {,}')
    const { code, stderr } = await skillrail('tools', 'refresh')
    writeFileSync(path, before ?? '')
    expect(code).toBe(1)
    expect(stderr).toContain(`${path}:1`)
    expect(readFileSync(join(project, '.skillrail', 'tools.json'), 'utf8')).toBe(cache)
  })

  it.each([
    [['refresh', '--server', 'gihtub'], 'Did you mean github? Configured: github, failing.'],
    [['list', '--server', 'gihtub'], 'Did you mean github? Configured: failing, github.'],
    [['list', '--category', 'gihtub'], 'Did you mean github? There are: github.'],
  ])('list the available names for tools %j', async (words, hint) => {
    const { code, stdout, stderr } = await skillrail('tools', ...words)
    expect(stderr).toContain(hint)
    expect(stdout).toBe('')
    expect(code).toBe(3)
  })

  it('print one line about a failing server in a list, and the whole message for servers', async () => {
    const listed = await skillrail('tools', 'list')
    const shown = await skillrail('tools', 'servers')
    expect(listed.stderr).toMatch(/^failing is configured and failing: .* Error: no key$/m)
    expect(listed.stderr).not.toContain('noise')
    expect(shown.stdout).toMatch(/^failing +failing/m)
    expect(shown.stderr).toContain('    noise\n    Error: no key\n    more noise')
    expect(shown.code).toBe(0)
  })

  it('start no server in an untrusted workspace', async () => {
    const { code, stdout, stderr } = await runInProcess(['tools', 'refresh', '--dry-run'], {
      cwd: project,
      home: realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-tools-home-'))),
    })
    expect(stderr).toContain('Not started: failing, github')
    expect(stderr).toContain('never trusted')
    expect(stdout).toBe('')
    expect(code).toBe(4)
  })

  it('do not record a refresh in which no server answers', async () => {
    const { code, stdout } = await skillrail('tools', 'refresh', '--server', 'failing')
    expect(stdout).toMatch(/^Nothing was refreshed, because no server answered\.\n/)
    expect(stdout).not.toContain('Index')
    expect(code).toBe(1)
  })
})

const workflows = JSON.stringify({
  'look-first': {
    enabled: true,
    description: 'Look first',
    triggers: { tools: ['list_issues'] },
    prerequisites: [{ step: 1, tool: 'create_issue', description: 'x' }],
    mode: 'warn',
  },
})
