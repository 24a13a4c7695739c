import { afterAll, beforeAll, it } from 'vitest'
import { type ModelServer, type Script, startModelServer } from '../model-server/server.ts'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

const called = (name: string, input: object) => ({ calls: [{ name, input }] })

/** Does what the last text of the user says: `read FILE`, `write FILE`, `agent delegate`, or repeats it. */
const model: Script = (request) => {
  const { messages }: { messages: { role: string; content: unknown }[] } = JSON.parse(request.body)
  const last = messages.at(-1)
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last)
  if (last?.role === 'tool') return `The tool said: ${text.slice(0, 200)}`
  const [, verb = '', name = ''] = /\b(read|write|delegate|loop|refuse) (\S+)/.exec(text) ?? []
  if (verb === 'read') return called('read', { file_path: name })
  if (verb === 'write') return called('write', { file_path: name, content: 'x' })
  if (verb === 'agent delegate') return called('agent delegate', { agent: name, task: 'Help.' })
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

it('lists, shows and validates subagents', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json } = scenario
      await json('agent subagents list')
      await json('agent subagents validate')
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
        await json(`agent subagents ${line}`)
      }
    },
    [
      '0 agent subagents list',
      '0 agent subagents validate',
      '0 agent subagents list → agent-description agent-untrusted field-type',
      '0 agent subagents list --trust-workspace → agent-description field-type',
      '4 agent subagents show reviewer → subagent-untrusted',
      '0 agent subagents show reviewer --trust-workspace',
      '0 agent subagents show helper',
      '3 agent subagents show faulty → agent-description field-type subagent-broken',
      '3 agent subagents show reviwer → subagent-not-found',
      '1 agent subagents validate → agent-description agent-model-unknown agent-skill-missing field-type',
      '1 agent subagents validate --trust-workspace → agent-description agent-model-unknown agent-skill-missing field-type',
      '0 agent subagents validate .skillrail/agents/reviewer.md',
      '1 agent subagents validate .skillrail/agents → agent-description agent-model-unknown agent-skill-missing field-type',
      '2 agent subagents validate nowhere → path-missing',
    ],
  ),
)

it('runs tasks with a model, skills, tools and subagents', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
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
        'agent delegate reviewer "Look at it."',
        'agent delegate reviewer "read notes.md" --context "Be quick."',
        'agent delegate helper "Help me."',
        'agent delegate helper "Help me." --timeout x',
        'agent delegate reviwer "x"',
        'agent delegate faulty "x"',
        'run thinking Ada',
        'run thinking Ada --tools read',
      ]) {
        await json(`${line} ${options}`)
      }
      await run(`agent - ${options}`, { stdin: 'Say it from stdin.' })
      await run(`agent "Say hello." --quiet ${options}`)
      await run(`agent "Say hello." --verbose ${options}`)
    },
    [
      '0 agent "Say hello." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "read notes.md" --tools read --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "read missing.md" --tools read --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '6 agent "write made.txt" --tools write --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=waiting',
      '0 agent "write made.txt" --tools write --yes --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "/greet Ada" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "Say hello." --skill greet --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '3 agent "Say hello." --skill nothing --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → skill-not-found',
      '0 agent "Say hello." --no-skills --instructions "Be brief." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "delegate helper" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '0 agent "delegate nobody" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=completed',
      '1 agent "refuse 400" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=failed',
      '1 agent "refuse 404" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → status=failed',
      '2 agent "Go." --tools raed --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → tool-unknown',
      '2 agent "Go." --max-turns 0 --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → option-number',
      '2 agent "Go." --concurrency x --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → option-number',
      '2 agent "Go." --no-skills --skill greet --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → wrong-use',
      '3 agent "Go." --mcp-server nothing --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → server-not-found',
      '2 agent " " --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → task-empty',
      '2 agent @nothing.txt --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → file-missing',
      '0 agent delegate reviewer "Look at it." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → endReason=done status=completed',
      '0 agent delegate reviewer "read notes.md" --context "Be quick." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → endReason=done status=completed',
      '0 agent delegate helper "Help me." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → endReason=done status=completed',
      '2 agent delegate helper "Help me." --timeout x --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → option-number',
      '3 agent delegate reviwer "x" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → subagent-not-found',
      '3 agent delegate faulty "x" --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → agent-description field-type subagent-broken',
      '1 run thinking Ada --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → evidence=exit-code evidence=self-reported output-missing status=failure status=success',
      '1 run thinking Ada --tools read --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace → evidence=exit-code evidence=self-reported output-missing status=failure status=success',
      '0 agent - --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace',
      '0 agent "Say hello." --quiet --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace',
      '0 agent "Say hello." --verbose --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 --trust-workspace',
    ],
  ),
)

it('resumes conversations', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      project(scenario)
      const options = `--model openai-compatible:test --base-url ${server.url}/v1`
      await json('agent list')
      await json(`agent --continue ${options}`)
      await run(`agent "Say hello." ${options}`)
      await json('agent list')
      await run(`agent "Say bye." --resume latest --base-url ${server.url}/v1`)
      await json(`agent --continue ${options}`)
      await json(`agent --resume nothing ${options}`)
      await json(`agent --resume nothing --continue ${options}`)
      await json(`agent ${options}`)
    },
    [
      '0 agent list',
      '3 agent --continue --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 → conversation-unknown',
      '0 agent "Say hello." --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1',
      '0 agent list → status=completed',
      '0 agent "Say bye." --resume latest --base-url http://127.0.0.1:<port>/v1',
      '2 agent --continue --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 → turn-complete',
      '3 agent --resume nothing --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 → conversation-unknown',
      '2 agent --resume nothing --continue --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 → wrong-use',
      '2 agent --model openai-compatible:test --base-url http://127.0.0.1:<port>/v1 → task-missing',
    ],
  ),
)

it('refuses a task without a usable model', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ json }) => {
      for (const line of [
        'agent Go.',
        'agent Go. --model qwen3',
        'agent Go. --model antropic:x',
        'agent Go. --model openai-compatible:x',
        'agent Go. --model anthropic:x',
        'agent Go. --model openai-compatible:x --base-url nonsense',
        'agent delegate nobody Go.',
        'agent delegate nobody Go. --model openai-compatible:x --base-url http://127.0.0.1:1/v1',
      ]) {
        await json(line)
      }
    },
    [
      '2 agent Go. → model-missing',
      '2 agent Go. --model qwen3 → model-name',
      '3 agent Go. --model antropic:x → provider-unknown',
      '2 agent Go. --model openai-compatible:x → base-url-missing',
      '2 agent Go. --model anthropic:x → key-missing',
      '2 agent Go. --model openai-compatible:x --base-url nonsense → base-url',
      '2 agent delegate nobody Go. → model-missing',
      '3 agent delegate nobody Go. --model openai-compatible:x --base-url http://127.0.0.1:<port>/v1 → subagent-not-found',
    ],
  ),
)
