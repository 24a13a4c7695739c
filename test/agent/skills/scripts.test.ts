import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AgentOptions } from '../../../src/agent/agent-options.ts'
import type { ApprovalRequest } from '../../../src/agent/types.ts'
import { openSandbox } from '../../../src/exec/sandbox/open-sandbox.ts'
import { defineSkill } from '../../../src/library/manager.ts'
import { serverEntry } from '../../fixtures/server-project.ts'
import { type AgentFixture, emptyFixture, withAgent } from '../_agent-fixture.ts'
import { call, type Reply, says } from '../mock-replies.ts'

const yes = { approver: () => Promise.resolve({ approved: true as const }) }

function withScript(
  script: string,
  replies: readonly Reply[],
  options: Partial<AgentOptions> = yes,
): AgentFixture {
  const place = emptyFixture()
  place.skill('project/.claude/skills/tool')
  place.executable('project/.claude/skills/tool/scripts/go.sh', script)
  place.write({ 'project/.claude/skills/tool/scripts/notes.md': 'no program' })
  return withAgent(place, [call('skill', { name: 'tool' }), ...replies, says('ok')], options)
}

it('runs an executable script as a tool of its skill, in the project, with arguments and input', async () => {
  const script =
    '#!/bin/sh\npwd; echo "[$1][$2]"; cat; echo; echo "$SKILLRAIL_SKILL_DIR"; printf %s "$SKILLRAIL_SCRATCH" > scratch'
  const agent = withScript(script, [
    call('tool__go', { arguments: ['a b', '$(touch x)'], stdin: 'given' }),
  ])
  await agent.ask('go')
  expect(agent.seen(1)).toEqual(['skill', 'skill_resource', 'tool__go'])
  const { status, stdout } = JSON.parse(agent.results(2)[1] ?? '')
  expect(status).toBe('success')
  expect(stdout).toBe(
    `${agent.project}\n[a b][$(touch x)]\ngiven\n${join(agent.project, '.claude/skills/tool')}\n`,
  )
  expect(existsSync(join(agent.project, 'x'))).toBe(false)
  expect(existsSync(readFileSync(join(agent.project, 'scratch'), 'utf8'))).toBe(false)
})

it('returns the report of a script to the model', async () => {
  const script = `#!/bin/sh
echo working
cat > "$SKILLRAIL_OUTPUT" <<'X'
{"status":"failure","result":"two bugs","errors":["a","b"],"metrics":{"bugs":2}}
X
`
  const agent = withScript(script, [call('tool__go')])
  await agent.ask('go')
  expect(JSON.parse(agent.results(2)[1] ?? '')).toMatchObject({
    status: 'failure',
    result: 'two bugs',
    errors: [{ message: 'a' }, { message: 'b' }],
    metrics: { bugs: 2 },
    stdout: 'working\n',
  })
})

it('asks for a script, unless its skill approves it', async () => {
  const refused = withScript('#!/bin/sh\ntouch ran', [call('tool__go')], {})
  await refused.ask('go')
  expect(refused.results(2)[1]).toMatch(/^Error: tool.go was refused: it needs an approval/)
  expect(existsSync(join(refused.project, 'ran'))).toBe(false)

  const place = emptyFixture()
  place.skill('project/.claude/skills/tool', { more: 'allowed-tools: tool.go' })
  place.executable('project/.claude/skills/tool/scripts/go.sh', '#!/bin/sh\ntouch ran')
  const approved = withAgent(place, [call('skill', { name: 'tool' }), call('tool__go'), says('ok')])
  await approved.ask('go')
  expect(existsSync(join(place.project, 'ran'))).toBe(true)
})

const sandbox = await openSandbox()

it.runIf(sandbox.ok)(
  'tells the model that a script failed in the sandbox, and how to allow more',
  async () => {
    const agent = withScript('#!/bin/sh\ncat package.json', [call('tool__go')], {
      ...yes,
      workspaceTrust: 'ask',
    })
    await agent.ask('go')
    expect(agent.results(2)[1]).toMatch(
      /"status":"failure".*"hint":"It ran in a sandbox \(\w+\).*skillrail trust /,
    )
  },
)

it('keeps the extensions of scripts with one stem, and prefers a registered tool to a script', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/tool')
  for (const name of ['a.sh', 'a.py', 'b.sh', 'c.sh']) {
    place.executable(`project/.claude/skills/tool/scripts/${name}`, '#!/bin/sh\n')
  }
  const agent = withAgent(place, [call('skill', { name: 'tool' }), says('ok')])
  agent.agent.skillManager.registerTool('tool', { name: 'c', execute: () => 1 })
  await agent.ask('go')
  expect(agent.seen(1)).toEqual([
    'skill',
    'skill_resource',
    'tool__c',
    'tool__a__py',
    'tool__a__sh',
    'tool__b',
  ])
})

it('carries out an instruction skill that says "run the script, edit the file" end to end', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/release', {
    more: 'allowed-tools: release.next-version Read Edit(CHANGELOG.md)',
    body: '1. Run the tool release.next-version with $0.\n2. Put the version into CHANGELOG.md.\n3. Tag it.',
  })
  place.executable(
    'project/.claude/skills/release/scripts/next-version.sh',
    '#!/bin/sh\necho "2.0.0-$1"',
  )
  place.write({ 'project/CHANGELOG.md': '# Changes\n\n## Unreleased\n' })
  const asked: ApprovalRequest[] = []
  const agent = withAgent(
    place,
    [
      call('release__next-version', { arguments: ['beta'] }),
      call('read', { file_path: 'CHANGELOG.md' }),
      call('edit', {
        file_path: 'CHANGELOG.md',
        old_string: '## Unreleased',
        new_string: '## 2.0.0-beta',
      }),
      call('shell', { command: 'grep -c beta CHANGELOG.md && touch tagged' }),
      says('released'),
    ],
    {
      builtIns: ['read', 'edit', 'shell'],
      approver: (request) => {
        asked.push(request)
        return Promise.resolve({ approved: true })
      },
    },
  )
  const { status, text } = await agent.ask('/release beta')
  expect([status, text]).toEqual(['completed', 'released'])
  expect(agent.prompted(0)).toContain('Run the tool release.next-version with beta.')
  expect(readFileSync(join(place.project, 'CHANGELOG.md'), 'utf8')).toBe(
    '# Changes\n\n## 2.0.0-beta\n',
  )
  expect(existsSync(join(place.project, 'tagged'))).toBe(true)
  expect(asked.map(({ tool, effect }) => [tool.name, effect])).toEqual([
    ['shell', `runs in ${place.project}:\ngrep -c beta CHANGELOG.md && touch tagged`],
  ])
  expect(agent.agent.listTools().map(({ name }) => name)).toEqual([
    'read',
    'edit',
    'shell',
    'skill',
  ])
})

it('cuts a result of 10 MB for the model, with a note', async () => {
  const skill = defineSkill({ name: 'big', description: 'Is big.', body: 'Call big.all.' })
  const agent = withAgent(
    emptyFixture(),
    [call('skill', { name: 'big' }), call('big__all'), says('ok')],
    { skills: [skill] },
  )
  agent.agent.skillManager.registerTool('big', {
    name: 'all',
    execute: () => 'x'.repeat(10_000_000),
  })
  await agent.ask('go')
  expect(agent.results(2)[1]?.length).toBeLessThan(60_000)
  expect(agent.results(2)[1]).toContain('left out')
})

it('offers the tools of an MCP server while a skill that names it is active', async () => {
  const place = emptyFixture()
  const things = serverEntry('tool-server', join(place.root, 'calls'))
  place.write({ 'project/.mcp.json': JSON.stringify({ mcpServers: { things } }) })
  const named = 'metadata:\n  mcp-servers: things nowhere'
  place.skill('project/.claude/skills/both', { more: named })
  place.skill('project/.claude/skills/again', { more: named })
  const agent = withAgent(place, [
    call('skill', { name: 'both' }),
    call('skill', { name: 'again' }, 'more'),
    says('ok'),
    says('ok'),
  ])
  await agent.ask('go')
  const ofServer = (step: number): string[] =>
    agent.seen(step).filter((name) => name.startsWith('things__'))
  expect(ofServer(0)).toEqual([])
  expect(ofServer(1).length).toBeGreaterThan(0)
  expect(ofServer(2)).toEqual(ofServer(1))
  expect(agent.notices().join()).toContain('Skill both wants the MCP server nowhere')
  await agent.ask('more')
  expect(ofServer(3)).toEqual([])
  await agent.agent.close()
})
