import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { emptyFixture } from '../agent/_agent-fixture.ts'
import { type ModelServer, type Script, startModelServer } from '../model-server/server.ts'
import { runInProcess } from '../run-in-process.ts'
import { inTerminal, type TerminalSession } from './_terminal-session.ts'
import { until, withinLimit } from '../patience.ts'

let server: ModelServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

interface Place {
  project: string
  session: TerminalSession
}

async function agentInTerminal(script: Script, words: readonly string[]): Promise<Place> {
  const { project, home } = emptyFixture()
  server = await startModelServer(script)
  const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
  const session = inTerminal(['agent', ...words, ...model], { cwd: project, home })
  return { project, session }
}

function writing(name: string): Script {
  return [
    {
      text: 'I write it.',
      calls: [{ name: 'write', input: { file_path: name, content: 'x\n' } }],
    },
    'That was it.',
  ]
}

const task = ['Write a file.', '--tools', 'write']

describe('agent in a terminal', () => {
  it('shows text as it arrives, each tool, and the usage', async () => {
    const words = 'one two three four five six'.split(' ').map((word) => `${word} `)
    let goOn = (): void => undefined
    const seen = new Promise<void>((resolve) => (goOn = resolve))
    const before = (event: number): Promise<void> | undefined => (event === 3 ? seen : undefined)
    const { session } = await agentInTerminal([{ text: words.join(''), before }], ['Count.'])
    await session.until('one')
    expect(session.shown()).not.toContain('six')
    goOn()
    await session.until('six')
    expect(await session.code).toBe(0)
    expect(session.shown()).toContain('used: 1 request')
  })

  it('asks before a change, and makes the change after a yes', async () => {
    const { project, session } = await agentInTerminal(writing('made.txt'), task)
    await session.until('The agent wants to call write')
    await session.until('[N]o, or say what to do instead:')
    expect(existsSync(join(project, 'made.txt'))).toBe(false)
    session.type('y\r')
    await session.until('That was it.')
    expect(await session.code).toBe(0)
    expect(existsSync(join(project, 'made.txt'))).toBe(true)
    expect(session.shown()).toContain('write {"file_path":"made.txt"')
  })

  it('makes no change after a no, and informs the model', async () => {
    const { project, session } = await agentInTerminal(writing('made.txt'), task)
    await session.until('[N]o, or say what to do instead:')
    session.type('n\r')
    await session.until('That was it.')
    expect(await session.code).toBe(0)
    expect(existsSync(join(project, 'made.txt'))).toBe(false)
    expect(JSON.stringify(server?.prompts()[1]?.body)).toContain('did not approve')
  })

  it('ends with 130 on Ctrl-C while it asks, and changes nothing', async () => {
    const { project, session } = await agentInTerminal(writing('made.txt'), task)
    await session.until('[N]o, or say what to do instead:')
    session.type('\u0003')
    expect(await session.code).toBe(130)
    expect(existsSync(join(project, 'made.txt'))).toBe(false)
    expect(session.shown()).not.toContain('That was it.')
  })

  it('keeps the conversation on Ctrl-C, and prints the command that continues it', async () => {
    const { project, home } = emptyFixture()
    server = await startModelServer(writing('made.txt'))
    const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
    const session = inTerminal(['agent', ...task, ...model], { cwd: project, home })
    await session.until('[N]o, or say what to do instead:')
    session.type('\u0003')
    expect(await session.code).toBe(130)
    const [, line = ''] = /Continue with: skillrail (\S.*\S)/.exec(session.shown()) ?? []
    const words = [...line.split(' '), 'Where were you?']
    const { code, stdout } = await runInProcess(words, { cwd: project, home })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'That was it.\n' })
    const asked = server.prompts().at(-1)?.body
    expect(asked).toContain('Write a file.')
    expect(asked).toContain('the run was cancelled before this was done')
  })

  it('ends with 130 on Ctrl-C while the model is silent, and leaves no process', async () => {
    const mark = `skillrail-silent-${process.pid}`
    const { session } = await agentInTerminal([{ silent: true }], [mark])
    await until(() => server?.prompts().length === 1)
    session.type('\u0003')
    expect(await session.code).toBe(130)
    expect(commandLinesWith(mark)).toEqual([])
  })

  it('withdraws the question after the time-out of a subagent', async () => {
    const place = emptyFixture()
    place.write({
      'home/.claude/agents/writer.md':
        '---\nname: writer\ndescription: Writes.\ntools: Write\n---\nWrite.\n',
    })
    server = await startModelServer(writing('made.txt'))
    const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
    const words = ['agent', 'delegate', 'writer', 'Write a file.', ...model, '--timeout']
    const session = await withinLimit(
      3000,
      async (limit) => {
        const { project: cwd, home } = place
        const tried = inTerminal([...words, String(limit / 1000)], { cwd, home })
        await tried.code
        return tried
      },
      (tried) => tried.shown().includes('The subagent writer wants to call write'),
    )
    await session.until('took longer than it may')
    expect(await session.code).toBe(5)
    expect(existsSync(join(place.project, 'made.txt'))).toBe(false)
  })

  it('ends the command of a tool when it ends itself', async () => {
    const mark = `73${process.pid}`
    const left = (): string[] =>
      commandLinesWith(mark).filter((line) => line.trim() === `sleep ${mark}`)
    const command = `sleep ${mark} & echo $! > started; wait`
    const { project, session } = await agentInTerminal(
      [{ calls: [{ name: 'shell', input: { command } }] }, 'Done.'],
      ['Wait.', '--tools', 'shell', '--yes'],
    )
    await until(() => existsSync(join(project, 'started')) && left().length > 0)
    session.type('\u0003')
    expect(await session.code).toBe(130)
    expect(left()).toEqual([])
  })
})

/** The command lines of running processes that contain the text. */
function commandLinesWith(text: string): string[] {
  const lines = existsSync('/proc/self/cmdline')
    ? globSync('/proc/[0-9]*/cmdline').map(readCommandLine)
    : spawnSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).stdout.split('\n')
  return lines.filter((line) => line.includes(text))
}

function readCommandLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // The process has ended.
  }
}
