import { createServer, type Server } from 'node:http'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startModelServer } from '../model-server/server.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

interface Place {
  cwd: string
  home: string
  write: (path: string, text: string) => void
  cli: (args: readonly string[], env?: Record<string, string>) => Promise<CliResult>
}

function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-agents-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [cwd, home] = [join(root, 'project'), join(root, 'home')]
  mkdirSync(join(cwd, '.git'), { recursive: true })
  mkdirSync(home)
  return {
    cwd,
    home,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    },
    cli: (args, env) => runInProcess(args, { cwd, home, env }),
  }
}

function agent(name: string, more = '', body = `You are ${name}.`): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n${body}\n`
}

/** A server that answers every chat completion with one text, and remembers the requests. */
async function modelServer(text: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      seen.push(body)
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'mock',
          choices: [
            { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
        }),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/v1`, seen }
}

describe('agents list', () => {
  it('says how to create a subagent if there is none', async () => {
    const { code, stderr } = await place().cli(['agent', 'subagents', 'list'])
    expect(code).toBe(0)
    expect(stderr).toContain('There are no subagents here.')
  })

  it("lists the user's subagents, and says why a project's subagent is not used", async () => {
    const { write, cli } = place()
    write('home/.claude/agents/reviewer.md', agent('reviewer', 'tools: Read, Grep\n'))
    write('project/.claude/agents/local.md', agent('local'))
    const { code, stdout, stderr } = await cli(['agent', 'subagents', 'list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/reviewer +Read Grep +that of its parent +~\/\.claude\/agents +Does/)
    expect(stderr).toContain('the subagent local is not used: its workspace was never trusted')
    expect(stderr).toContain('skillrail trust')
    const trusted = await cli(['agent', 'subagents', 'list', '--trust-workspace'])
    expect(trusted.stdout).toContain('local')
  })

  it('prints one JSON document', async () => {
    const { write, cli, home } = place()
    write('home/.mamba/agents/a.md', agent('a', 'max-turns: 3\ntimeout: 2\n'))
    const { stdout } = await cli(['agent', 'subagents', 'list', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      agents: [
        {
          name: 'a',
          description: 'Does a.',
          maxTurns: 3,
          timeoutMs: 2000,
          path: join(home, '.mamba/agents/a.md'),
          scope: 'user',
          source: '~/.mamba/agents',
          diagnostics: [],
        },
      ],
      withheld: [],
      diagnostics: [],
    })
  })
})

describe('agents show', () => {
  it('shows the fields and the prompt, without control characters', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/a.md', agent('a', '', 'Be \u001b[31mred.'))
    const { code, stdout } = await cli(['agent', 'subagents', 'show', 'a'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/tools +\*/)
    expect(stdout).toMatch(/max-turns +50/)
    expect(stdout).not.toContain('\u001b')
  })

  it('suggests the nearest name for an unknown name', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/reviewer.md', agent('reviewer'))
    const { code, stderr } = await cli(['agent', 'subagents', 'show', 'reviwer'])
    expect(code).toBe(3)
    expect(stderr).toContain('Did you mean reviewer?')
  })
})

describe('an agent whose file is broken', () => {
  it.each([
    [['agent', 'subagents', 'show', 'late']],
    [['agent', 'delegate', 'late', 'x', '--model', 'ollama:x']],
  ])('is reported by %j with its line, by file name and by its own name', async (args) => {
    const { write, cli } = place()
    write('home/.claude/agents/slow.md', agent('late', 'max-turns: soon\n'))
    const byName = await cli(args)
    expect(byName.code).toBe(3)
    expect(byName.stderr).toContain('The subagent late cannot be used')
    expect(byName.stderr).toContain('slow.md:4:12: error: `max-turns` must be')
    const byFile = await cli(args.map((word) => (word === 'late' ? 'slow' : word)))
    expect(byFile.stderr).toContain('slow.md:4:12: error: `max-turns` must be')
  })
})

it('a changed file is not used until the change is accepted, and list shows that', async () => {
  const { write, cli } = place()
  write('project/.claude/agents/local.md', agent('local', 'tools: Read\n'))
  await cli(['trust', '--yes'])
  expect((await cli(['agent', 'subagents', 'list'])).stdout).toContain('local')
  write('project/.claude/agents/local.md', agent('local', 'tools: Read, Bash\n'))
  const { stdout, stderr } = await cli(['agent', 'subagents', 'list'])
  expect(stdout).not.toContain('local')
  expect(stderr).toContain('has changed since its workspace was trusted')
  expect(stderr).toContain('To see what changed and accept it: skillrail trust')
})

describe('agents validate', () => {
  it('reports missing tools and servers, with the line', async () => {
    const { write, cli } = place()
    const tools = 'tools: Grpe, Read, Bash(git:*), shop.buy, mcp__fils__read, mcp__files, "*"\n'
    write('home/.claude/agents/a.md', agent('a', tools))
    write('project/.mcp.json', '{ "mcpServers": { "files": { "command": "node" } } }')
    const { code, stdout, stderr } = await cli(['agent', 'subagents', 'validate'])
    expect(code).toBe(0)
    expect(stdout).toContain('0 errors, 2 warnings')
    expect(stderr).toContain('a.md:4:8: warning: `tools` names Grpe')
    expect(stderr).toContain('Did you mean Grep?')
    expect(stderr).toContain('mcp__fils__read, which no configured MCP server has')
    expect(stderr).toContain('Did you mean mcp__files?')
  })

  it('reports fields, missing skills and circles, and ends with 1', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/a.md', agent('a', 'skills: [loop, nothing]\n'))
    write('home/.claude/agents/b.md', agent('b', 'tolls: Read\n'))
    write('home/.claude/agents/c.md', agent('c', 'max-turns: x\n'))
    write(
      'home/.claude/skills/loop/SKILL.md',
      '---\nname: loop\ndescription: Loops. Use it.\ncontext: fork\nagent: a\n---\nLoop.\n',
    )
    const { code, stdout, stderr } = await cli(['agent', 'subagents', 'validate'])
    expect(code).toBe(1)
    expect(stdout).toBe('3 subagents checked, 2 invalid: 3 errors, 1 warning\n')
    expect(stderr).toContain('agent:a -> skill:loop -> agent:a')
    expect(stderr).toContain('a.md:4:9: error: there is no skill named nothing')
    expect(stderr).toContain('b.md:4:1: warning: `tolls` is not a field')
    expect(stderr).toContain('c.md:4')
  })

  it('warns of a subagent that no model may start, in the words of the refusal', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/a.md', agent('a', 'skills: [open, release now]\n'))
    write('home/.claude/agents/b.md', agent('b', 'skills: [open]\n'))
    for (const [name, more] of [
      ['open', ''],
      ['release', 'disable-model-invocation: true\n'],
    ]) {
      const head = `name: ${name}\ndescription: Does it. Use it.\n${more}`
      write(`home/.claude/skills/${name}/SKILL.md`, `---\n${head}---\nDo it.\n`)
    }
    const { code, stdout, stderr } = await cli(['agent', 'subagents', 'validate'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '2 subagents checked, all valid: 0 errors, 1 warning\n',
    })
    expect(stderr).toContain(
      'a.md:4:9: warning: the subagent a may not be started by a model: its skill release sets disable-model-invocation [agent-not-for-models]',
    )
    const server = await startModelServer([
      { calls: [{ name: 'delegate', input: { agent: 'a', task: 'x' } }] },
      'Over.',
    ])
    onTestFinished(() => server.close())
    const model = ['--model', 'openai-compatible:mock', '--base-url', `${server.url}/v1`]
    await cli(['agent', 'x', ...model])
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(
      'The subagent a may not be started by a model: its skill release sets disable-model-invocation.',
    )
  })

  it('warns of an unavailable model, and of a second subagent with the same name', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/a.md', agent('a', 'model: sonnet\n'))
    write('home/.claude/agents/b.md', agent('b', 'model: antropic:claude\n'))
    write('home/.claude/agents/c.md', agent('a', 'model: inherit\n'))
    write('home/.mamba/agents/b.md', agent('b', 'model: ollama:qwen3:8b\n'))
    const { code, stdout, stderr } = await cli(['agent', 'subagents', 'validate'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '4 subagents checked, all valid: 0 errors, 3 warnings\n',
    })
    expect(stderr).toContain('a.md:4:8: warning: The model "sonnet" does not say whose it is.')
    expect(stderr).toContain('b.md:4:8: warning: Unknown model provider "antropic".')
    expect(stderr).toContain('Did you mean anthropic?')
    expect(stderr).toMatch(
      /c\.md: warning: the subagent a is defined by \S+a\.md too, which is used/,
    )
  })

  it('accepts files and folders, and refuses a missing path as wrong use', async () => {
    const { write, cli } = place()
    write('project/some/a.md', agent('a'))
    const valid = await cli(['agent', 'subagents', 'validate', 'some', '--json'])
    expect(valid.code).toBe(0)
    expect(JSON.parse(valid.stdout)).toMatchObject({
      agents: [{ name: 'a', valid: true }],
      summary: { checked: 1, valid: 1, invalid: 0, errors: 0, warnings: 0 },
    })
    expect((await cli(['agent', 'subagents', 'validate', 'nowhere.md'])).code).toBe(2)
  })
})

describe('delegate', () => {
  it('gives a task to a subagent over HTTP, and prints only its answer', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper', 'tools: Read\n', 'You help.'))
    const { url, seen } = await modelServer('The answer.')
    const model = ['--model', 'openai-compatible:mock', '--base-url', url]
    const { code, stdout, stderr } = await cli([
      'agent',
      'delegate',
      'helper',
      'Help me.',
      '--context',
      'Some context.',
      ...model,
    ])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The answer.\n' })
    expect(stderr).toContain('[helper] completed')
    const [request = ''] = seen
    expect(request).toContain('You help.')
    expect(request).toContain('Some context.')
    expect(
      JSON.parse(request).tools.map((one: { function: { name: string } }) => one.function.name),
    ).toEqual(['read'])
  })

  it('prints one JSON document', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper'))
    const { url } = await modelServer('The answer.')
    const model = ['--model', 'openai-compatible:mock', '--base-url', url]
    const { stdout } = await cli(['agent', 'delegate', 'helper', 'Help me.', '--json', ...model])
    expect(JSON.parse(stdout)).toMatchObject({
      subagentName: 'helper',
      task: 'Help me.',
      success: true,
      status: 'completed',
      output: 'The answer.',
      usage: { inputTokens: 12, outputTokens: 3, requests: 1 },
      turns: 1,
    })
  })

  it('names the option for a tool that the definition requires', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper', 'tools: Read, Glob\n'))
    const { url } = await modelServer('The answer.')
    const model = ['--model', 'openai-compatible:mock', '--base-url', url]
    const { stderr } = await cli(['agent', 'delegate', 'helper', 'x', '--tools', 'list', ...model])
    expect(stderr).toContain('The subagent helper cannot have the tool Read: it does not exist')
    expect(stderr).toContain('--tools read, or with builtIns in a program')
    expect(stderr).not.toContain('Glob')
  })

  it('names the option for a server that the definition requires', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper', 'tools: mcp__files__read\n'))
    const { url } = await modelServer('The answer.')
    const model = ['--model', 'openai-compatible:mock', '--base-url', url]
    const { stderr } = await cli(['agent', 'delegate', 'helper', 'x', ...model])
    expect(stderr).toContain('The subagent helper cannot have the tool mcp__files__read')
    expect(stderr).toContain('--mcp-server files')
  })

  it('names the subagent whose skill is missing', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper', 'skills: nothing\n'))
    const { code, stderr } = await cli(['agent', 'delegate', 'helper', 'x', '--model', 'ollama:x'])
    expect(code).toBe(3)
    expect(stderr).toContain('no skill named nothing, which the subagent helper needs')
  })

  it('reports a missing model, an unknown or untrusted subagent, and an empty task', async () => {
    const { write, cli } = place()
    write('home/.claude/agents/helper.md', agent('helper'))
    write('project/.claude/agents/local.md', agent('local'))
    const model = ['--model', 'openai-compatible:mock', '--base-url', 'http://127.0.0.1:9/v1']
    expect((await cli(['agent', 'delegate', 'helper', 'x'])).code).toBe(2)
    const unknown = await cli(['agent', 'delegate', 'helpr', 'x', ...model])
    expect(unknown.code).toBe(3)
    expect(unknown.stderr).toContain('Did you mean helper?')
    expect((await cli(['agent', 'delegate', 'helper', ' ', ...model])).code).toBe(2)
    const local = await cli(['agent', 'delegate', 'local', 'x', ...model])
    expect(local.code).toBe(4)
    expect(local.stderr).toContain('skillrail trust')
  })
})
