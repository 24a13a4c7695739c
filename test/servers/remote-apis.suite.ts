import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFixture } from './fixture.ts'

const pull = { owner: 'octo', repo: 'hello', pull_number: 12 }

describe('the workflow of a pull request', () => {
  const fixture = useFixture(['github'])

  it('plans three prerequisites for a merge, each with the pull request of the call', async () => {
    const { project } = fixture()
    expect((await project.cli(['tools', 'workflow', 'add', '--template', 'github-pr'])).code).toBe(
      0,
    )
    await project.cli(['trust', '--yes'])
    const { answer } = await project.json([
      'tools',
      'workflow',
      'plan',
      'github__merge_pull_request',
      JSON.stringify(pull),
    ])
    expect(answer).toMatchObject({
      workflow: 'github-pr-review',
      mode: 'warn',
      steps: [
        { id: 'github__get_pull_request', status: 'run', params: pull },
        { id: 'github__get_pull_request_files', status: 'run', params: pull },
        { id: 'github__get_pull_request_status', status: 'run', params: pull },
      ],
    })
  })

  it('reads the pull request, its files and its checks before it merges', async () => {
    const { project, github } = fixture()
    github.requests.length = 0
    const merged = await project.cli([
      'tools',
      'call',
      'github__merge_pull_request',
      JSON.stringify(pull),
    ])
    expect(merged).toMatchObject({ code: 0 })
    expect(github.requests).toEqual([
      'GET /repos/octo/hello/pulls/12',
      'GET /repos/octo/hello/pulls/12/files',
      'GET /repos/octo/hello/pulls/12',
      'GET /repos/octo/hello/commits/abc/status',
      'PUT /repos/octo/hello/pulls/12/merge',
    ])
  })

  it('merges without them if the caller requests that', async () => {
    const { project, github } = fixture()
    github.requests.length = 0
    const other = ['--session', 'other', '--skip-prerequisites']
    const call = ['tools', 'call', 'github__merge_pull_request', JSON.stringify(pull), ...other]
    const { code, stderr } = await project.cli(call)
    expect(code).toBe(0)
    expect(github.requests).toEqual(['PUT /repos/octo/hello/pulls/12/merge'])
    expect(stderr).toContain("Workflow 'github-pr-review' warns")
  })

  it('merges nothing if the pull request cannot be read', async () => {
    const { project, github } = fixture()
    github.requests.length = 0
    const absent = JSON.stringify({ ...pull, pull_number: 99 })
    const { code, stderr } = await project.cli([
      'tools',
      'call',
      'github__merge_pull_request',
      absent,
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/Workflow 'github-pr-review' failed at step 1 \(get_pull_request\): /)
    expect(github.requests.filter((line) => line.startsWith('PUT'))).toEqual([])
  })

  it('reviews a pull request in three steps', async () => {
    const { project } = fixture()
    const { answer } = await project.json([
      'tools',
      'do',
      'github__get_pull_request review PR 12 in octo/hello',
      '--dry-run',
    ])
    expect(answer.steps).toMatchObject([
      { tool: 'github__get_pull_request', params: pull },
      { tool: 'github__get_pull_request_files', params: pull },
      { tool: 'github__get_pull_request_status', params: pull },
    ])
  })
})

describe('the workflow of a GraphQL API', () => {
  const fixture = useFixture(['graphql'])
  const query = JSON.stringify({ query: '{ users { name } }' })

  it('suggests reading the schema, and continues', async () => {
    const { project, graphql } = fixture()
    await project.cli(['tools', 'workflow', 'add', '--template', 'graphql'])
    await project.cli(['trust', '--yes'])
    graphql.queries.length = 0
    const { code, stdout, stderr } = await project.cli([
      'tools',
      'call',
      'graphql__query-graphql',
      query,
    ])
    expect(code).toBe(0)
    expect(stdout).toContain('Ann')
    expect(stderr).toMatch(
      /Workflow 'graphql-schema-aware' suggests to run first\n {2}1\. get_schema/,
    )
    expect(graphql.queries).toEqual(['{ users { name } }'])
  })

  it('fetches the schema first once it is enforced, with the tool name of the server', async () => {
    const { project, graphql } = fixture()
    const file = join(project.directory, '.skillrail', 'workflows.json')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('"mode": "suggest"')
    writeFileSync(file, text.replace('"mode": "suggest"', '"mode": "enforce"'))
    await project.cli(['trust', '--yes'])
    graphql.queries.length = 0
    const { code, stderr } = await project.cli(['tools', 'call', 'graphql__query-graphql', query])
    expect(code).toBe(0)
    expect(stderr).toContain('✓ Step 1: get_schema completed')
    expect(graphql.queries).toEqual(['introspection', '{ users { name } }'])
  })
})
