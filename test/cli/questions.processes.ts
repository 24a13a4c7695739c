import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFixture } from '../agent/_agent-fixture.ts'
import { startModelServer } from '../model-server/server.ts'
import { runInProcess } from '../run-in-process.ts'
import { inTerminal, type TerminalSession } from './_terminal-session.ts'

type Place = ReturnType<typeof emptyFixture>

/** Longer than several intervals of the line that a command redraws while it works. */
const severalRedrawsMs = 600

const toolServer = join(import.meta.dirname, '../fixtures/programs/tool-server.mjs')

/** A project with a gated chain, a script that nobody trusts yet, and a tool behind a `warn` workflow. */
function writeProject(): Place {
  const place = emptyFixture()
  const skill = (name: string, more = ''): string =>
    `---\nname: ${name}\ndescription: Does ${name}. Use it here.\n${more}---\n`
  place.write({
    'project/.skillrail/skills/one/SKILL.md': skill('one'),
    'project/.skillrail/skills/one/scripts/run.sh': '#!/bin/sh\necho done\n',
    'project/.skillrail/skills/two/SKILL.md': skill('two'),
    'project/.skillrail/skills/two/scripts/run.sh': '#!/bin/sh\necho done\n',
    'project/.skillrail/skills/both/SKILL.md': skill(
      'both',
      'metadata:\n  chain: |\n    one\n    two gate\n',
    ),
    'project/.mcp.json': JSON.stringify({
      mcpServers: {
        things: { command: process.execPath, args: [toolServer, join(place.root, 'calls')] },
      },
    }),
    'project/.skillrail/workflows.json': JSON.stringify({
      'list-first': {
        enabled: true,
        description: 'List the things first',
        triggers: { tools: ['get_echo'] },
        prerequisites: [{ step: 1, tool: 'list_things', description: 'Know the things' }],
        mode: 'warn',
      },
    }),
  })
  for (const name of ['one', 'two']) {
    chmodSync(join(place.project, `.skillrail/skills/${name}/scripts/run.sh`), 0o755)
  }
  return place
}

interface Question {
  command: string
  args: readonly string[]
  /** A part of the line that asks. */
  text: string
  /** Command lines that are run before. */
  before?: readonly (readonly string[])[]
}

const trust = ['trust', '--yes']
const waitAtGate = [trust, ['run', 'both']]
const call = ['things__get_echo', '{"message":"hello"}']

const questions: readonly Question[] = [
  { command: 'runs approve', args: ['latest'], text: 'Approve two', before: waitAtGate },
  { command: 'runs reject', args: ['latest'], text: 'Reject two', before: waitAtGate },
  { command: 'trust', args: [], text: '[y/N]' },
  { command: 'tools call', args: call, text: 'Run them first?', before: [trust] },
  {
    command: 'tools batch',
    args: [JSON.stringify([{ tool: 'things__get_echo', params: { message: 'hello' } }])],
    text: 'Run them first?',
    before: [trust],
  },
  {
    command: 'tools do',
    args: ['get_echo message=hello'],
    text: 'Run them first?',
    before: [trust, ['tools', 'refresh']],
  },
  { command: 'workflow remove', args: ['list-first'], text: '[y/N]' },
]

async function askedBy({ command, args, before = [] }: Question): Promise<TerminalSession> {
  const { project, home } = writeProject()
  for (const line of before) await runInProcess(line, { cwd: project, home })
  return inTerminal([...command.split(' '), ...args], { cwd: project, home })
}

describe('a question stays on the screen', () => {
  it.each(questions)('until the user answers skillrail $command', async (question) => {
    const session = await askedBy(question)
    await session.until(question.text)
    await setTimeout(severalRedrawsMs)
    expect((await session.screen()).at(-1)).toContain(question.text)
    session.type('n\r')
    await session.code
    expect((await session.screen()).join('\n')).toContain(question.text)
  })

  it('until the user answers an agent that writes a file', async () => {
    const { project, home } = emptyFixture()
    const write = { name: 'write', input: { file_path: 'made.txt', content: 'x\n' } }
    const server = await startModelServer([{ text: 'I write.', calls: [write] }, 'Done.'])
    onTestFinished(() => server.close())
    const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
    const session = inTerminal(['agent', 'Write.', '--tools', 'write', ...model], {
      cwd: project,
      home,
    })
    await session.until('say what to do instead')
    await setTimeout(severalRedrawsMs)
    expect((await session.screen()).at(-1)).toContain('say what to do instead')
    session.type('y\r')
    expect(await session.code).toBe(0)
    expect(existsSync(join(project, 'made.txt'))).toBe(true)
  })
})
