import { afterAll, beforeAll } from 'vitest'
import { type ModelServer, type Script, startModelServer } from '../model-server/server.ts'
import { golden, type Scenario } from './_golden.ts'

const called = (name: string, input: object) => ({ calls: [{ name, input }] })

/** Does what the last text of the user says: `read FILE`, `write FILE`, `delegate`, or repeats it. */
const model: Script = (request) => {
  const { messages }: { messages: { role: string; content: unknown }[] } = JSON.parse(request.body)
  const last = messages.at(-1)
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last)
  if (last?.role === 'tool') return `The tool said: ${text.slice(0, 200)}`
  const [, verb = '', name = ''] = /\b(read|write|delegate|loop|refuse) (\S+)/.exec(text) ?? []
  if (verb === 'read') return called('read', { file_path: name })
  if (verb === 'write') return called('write', { file_path: name, content: 'x' })
  if (verb === 'delegate') return called('delegate', { agent: name, task: 'Help.' })
  if (verb === 'refuse') return { error: { status: Number(name) } }
  return `You said: ${text.slice(0, 200)}`
}

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer(model)
})
afterAll(async () => {
  await server.close()
})

function project({ skill, write }: Scenario): void {
  skill('greet', { body: 'Greet $ARGUMENTS warmly.' })
  skill('build', { run: 'echo built' })
  skill('thinking', { metadata: ['chain: build greet'] })
  write('project/notes.md', 'hello\n')
  const agent = (name: string, head: string, folder = 'project/.skillrail/agents'): void =>
    write(`${folder}/${name}.md`, `---\nname: ${name}\n${head}---\nYou are ${name}.\n`)
  agent('reviewer', 'description: Reviews.\ntools: read, search\nmax-turns: 3\n')
  agent('helper', 'description: Helps.\nskills: [greet]\n', 'home/.claude/agents')
  agent('faulty', 'tools: raed\npermission-mode: never\n')
  agent('distant', 'description: Far.\nmodel: antropic:x\nskills: [nothing]\n')
}

golden('agent', {
  async subagents(scenario) {
    const { both } = scenario
    await both('agents list')
    await both('agents validate')
    project(scenario)
    for (const line of [
      'list',
      'list --trust-workspace',
      'show reviewer',
      'show reviewer --trust-workspace',
      'show helper',
      'show faulty',
      'show reviwer',
      'validate',
      'validate --trust-workspace',
      'validate .skillrail/agents/reviewer.md',
      'validate .skillrail/agents',
      'validate nowhere',
    ]) {
      await both(`agents ${line}`)
    }
  },
  async tasks(scenario) {
    const { both, run } = scenario
    project(scenario)
    const options = `--model openai-compatible:test --base-url ${server.url}/v1 --trust-workspace`
    for (const line of [
      'agent "Say hello."',
      'agent "read notes.md" --tools read',
      'agent "read missing.md" --tools read',
      'agent "write made.txt" --tools write',
      'agent "write made.txt" --tools write --yes',
      'agent "/greet Ada"',
      'agent "Say hello." --skill greet',
      'agent "Say hello." --skill nothing',
      'agent "Say hello." --no-skills --instructions "Be brief."',
      'agent "delegate helper"',
      'agent "delegate nobody"',
      'agent "refuse 400"',
      'agent "refuse 404"',
      'agent "Go." --tools raed',
      'agent "Go." --max-turns 0',
      'agent "Go." --concurrency x',
      'agent "Go." --no-skills --skill greet',
      'agent "Go." --mcp-server nothing',
      'agent " "',
      'agent @nothing.txt',
      'delegate reviewer "Look at it."',
      'delegate reviewer "read notes.md" --context "Be quick."',
      'delegate helper "Help me."',
      'delegate helper "Help me." --timeout x',
      'delegate reviwer "x"',
      'delegate faulty "x"',
      'run thinking Ada',
      'run thinking Ada --tools read',
    ]) {
      await both(`${line} ${options}`)
    }
    await run(`agent - ${options}`, { stdin: 'Say it from stdin.' })
    await run(`agent "Say hello." --quiet ${options}`)
    await run(`agent "Say hello." --verbose ${options}`)
  },
  async conversations(scenario) {
    const { both, run } = scenario
    project(scenario)
    const options = `--model openai-compatible:test --base-url ${server.url}/v1`
    await both('agent list')
    await both(`agent --continue ${options}`)
    await run(`agent "Say hello." ${options}`)
    await both('agent list')
    await run(`agent "Say bye." --resume latest --base-url ${server.url}/v1`)
    await both(`agent --continue ${options}`)
    await both(`agent --resume nothing ${options}`)
    await both(`agent --resume nothing --continue ${options}`)
    await both(`agent ${options}`)
  },
  async 'models that are not there'({ both }) {
    for (const line of [
      'agent Go.',
      'agent Go. --model qwen3',
      'agent Go. --model antropic:x',
      'agent Go. --model openai-compatible:x',
      'agent Go. --model anthropic:x',
      'agent Go. --model openai-compatible:x --base-url nonsense',
      'delegate nobody Go.',
      'delegate nobody Go. --model openai-compatible:x --base-url http://127.0.0.1:1/v1',
    ]) {
      await both(line)
    }
  },
})
