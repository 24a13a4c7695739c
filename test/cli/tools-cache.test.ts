import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliResult, runCli } from './run-cli.ts'

const server = new URL('../fixtures/programs/tool-lister.ts', import.meta.url).pathname

let project: string
let home: string

function skillrail(...args: string[]): Promise<CliResult> {
  return runCli(['--trust-workspace', ...args], { cwd: project, home })
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
          args: ['-e', 'console.error("no key"); process.exit(3)'],
        },
      },
    }),
  )
})

describe('the commands about known tools', () => {
  it('refresh asks the servers, reports in the format’s words and keeps going past a failure', async () => {
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
    expect(stdout).toContain('no key')
    expect(code).toBe(0)
  }, 60_000)

  it('list, show and search read the cache and start nothing', async () => {
    writeFileSync(join(project, '.skillrail', 'workflows.json'), workflows)
    const listed = await skillrail('tools', 'list', '--category', 'version-control')
    expect(listed.stdout).toContain(
      '  github__list_issues     List issues\\x1b[31m of a repository',
    )
    expect(listed.stderr).toContain('failing is configured and failing')
    const shown = await skillrail('tools', 'show', 'list_issues')
    expect(shown.stdout).toContain(
      '  repo*  string\n      owner/repo\n  state  one of open, closed',
    )
    expect(shown.stdout).toContain('default "open"')
    expect(shown.stdout).toMatch(/Workflow +look-first \[warn\], first: create_issue/)
    const found = await skillrail('tools', 'search', 'issues', 'of', 'a', 'repository')
    expect(found.stdout.split('\n')[0]).toContain('github__list_issues')
    expect(found.code).toBe(0)
  }, 60_000)

  it('answer --json with one document each', async () => {
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

  it('an unknown tool is looked for on the servers, then answered with suggestions', async () => {
    const { code, stderr } = await skillrail('tools', 'show', 'github__list_isues')
    expect(stderr).toContain('Error: Tool not found: github__list_isues')
    expect(stderr).toContain('Suggestions: github__list_issues')
    expect(stderr).toContain('Next: confirm the intended tool or run skillrail tools refresh.')
    expect(code).toBe(3)
  }, 60_000)

  it('a corrupt cache is not overwritten by looking, and moved aside by a refresh', async () => {
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

  it('a configuration that cannot be read changes nothing, and is named with its line', async () => {
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

  it('a server that is not configured is a wrong use, with a suggestion', async () => {
    const { code, stderr } = await skillrail('tools', 'refresh', '--server', 'gihtub')
    expect(stderr).toContain('Did you mean github?')
    expect(code).toBe(2)
  })

  it('a workspace that is not trusted starts no server', async () => {
    const { code, stdout } = await runCli(['tools', 'refresh', '--dry-run'], {
      cwd: project,
      home: realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-tools-home-'))),
    })
    expect(stdout).toContain('never trusted')
    expect(code).toBe(4)
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
