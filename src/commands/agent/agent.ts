import { type Context, defineCommand, option, type Values } from '#core/command'
import { contradiction, exitCode, UsageError } from '#core/errors'
import { redactValue } from '#core/redact'
import { inputText, refuseInputTwice } from '#core/input-text'
import { amount, cell, count, safeLine, safeText, shellWord } from '#core/text'
import { picturesIn } from '#agent/built-in-tools/files'
import { Agent, type AgentResult } from '#agent/agent'
import { conversationFiles, type ConversationInfo } from '#agent/conversation/store'
import type { AgentEvent, WaitingCall } from '#agent/types'
import type { UsageReport } from '#agent/usage'
import {
  agentOptions,
  CommandApprover,
  type Ending,
  lineOf,
  modelOptions,
  tell,
  usageText,
} from './model-options.ts'

interface AgentCommandResult
  extends Ending, Pick<AgentResult, 'status' | 'text' | 'turns' | 'durationMs'> {
  tools: { agent: string; delegation?: string | undefined; tool: string; isError: boolean }[]
  usage: UsageReport
  conversation?: string | undefined
  waiting?: readonly WaitingCall[] | undefined
  /** The command line that continues, if the task is not done. */
  continueWith?: string | undefined
}

/** `answered` follows the last event of the agent. */
type Event = AgentEvent | { type: 'answered' }

const options = {
  ...modelOptions,
  continue: option.flag('--continue', 'continue the last conversation of this project'),
  resume: option.text(
    '--resume <id>',
    'continue a conversation: its ID, the beginning of it, or latest',
  ),
  skill: option.list('--skill <name>', 'a skill that is active from the start (repeatable)'),
  concurrency: option.integer('--concurrency <number>', 'subagents that work at once', {
    least: 1,
    most: 1000,
  }),
  skills: option.flag('--no-skills', 'offer no skills and no subagents'),
  instructions: option.text(
    '--instructions <text>',
    'instructions before the task: text, @FILE, or -',
  ),
  agentsFile: option.flag('--agents-file', 'read AGENTS.md of the project into the instructions'),
  events: option.optional(
    '--events [file]',
    'every event as a line of JSON; as in --events=FILE, else stdout',
  ),
} as const

export const command = defineCommand<AgentCommandResult, Event>()({
  arguments: { '[task]': 'what to do: text, @FILE, or - for stdin' },
  options,
  details:
    'Calls that are not read-only need approval. In a non-interactive shell the task waits for it, ' +
    'with exit code 6 and the line that continues; calls of subagents are refused, with exit code 4. ' +
    'Exit code 1: the model failed; 5: turns, tokens or time used up. --continue and --resume without ' +
    'a task continue a turn that was interrupted.',
  examples: [
    'agent "Summarise the README." --model ollama:qwen3:8b --tools read',
    'agent "/code-review src" --model anthropic:claude-sonnet-4-5 --tools read,search',
    'agent --resume latest --yes',
    'agent "What is on @screen.png?" --max-tokens 50000 --events=events.jsonl',
    'agent "Fix the tests." --tools all --agents-file --compact summary',
  ],
  async run(context, values) {
    const [taskArgument] = values.arguments
    refuseContradictions(values)
    refuseInputTwice(taskArgument ?? '', '--instructions', values.instructions)
    const store = conversationFiles({ runtime: context.runtime, settings: context.settings })
    const reference = referenceOf(values)
    const resumed = reference === undefined ? undefined : await store.load(reference)
    if (taskArgument === undefined && !resumed) throw taskMissing()
    const files = picturesIn(taskArgument ?? '', context.runtime.cwd)
    const isText = taskArgument === undefined || files.length > 0
    const task = isText ? taskArgument : await inputText(taskArgument, context)
    const { ask } = context
    const approver = new CommandApprover({ ask, approvesAll: values.yes, canWait: true })
    const tools: AgentCommandResult['tools'] = []
    const agent = new Agent({
      ...agentOptions(context, { ...values, model: values.model ?? resumed?.model }),
      store,
      conversation: resumed?.id,
      agentsFile: values.agentsFile,
      concurrency: values.concurrency ?? context.settings.agent.concurrency,
      instructions: await instructionsOf(values, context),
      approver: approver.approve,
      ...(values.skills ? { skills: [], subagents: [], startSkills: values.skill } : {}),
      onEvent(event) {
        tell(event, context)
        if (event.type !== 'tool-result') return
        const { agent: name, delegation, tool, isError } = event
        tools.push({ agent: name, delegation, tool, isError })
      },
    })
    try {
      const run = { signal: context.signal, stream: true, files }
      const result = await (task === undefined ? agent.resume(run) : agent.generate(task, run))
      context.emit({ type: 'answered' })
      const { status, text, turns, durationMs, waiting } = result
      const { conversation, usage } = agent
      const isOpen = conversation !== undefined && status !== 'completed'
      const continueWith = isOpen ? lineAgain(conversation, context, values) : undefined
      return {
        status,
        text,
        ...approver.ending(result.error),
        turns,
        durationMs,
        tools,
        usage,
        conversation,
        waiting,
        continueWith,
      }
    } finally {
      await agent.close()
    }
  },
  // The terminal already shows the text.
  render: ({ text }, { isTerminal, stdoutTaken }) =>
    (isTerminal && !stdoutTaken) || text === '' ? '' : `${safeText(text)}\n`,
  notes: ({ error, usage, conversation, waiting = [], continueWith }) => [
    error !== undefined && { failure: error },
    ...waiting.map(({ tool, reason, input }) => {
      const call = `${safeLine(tool)} ${cell(JSON.stringify(redactValue(input)), 100)}`
      return { failure: `Waits for an approval (${safeLine(reason)}): ${call}` }
    }),
    ...usageLines(usage),
    conversation !== undefined && { detail: `conversation: ${conversation}` },
    continueWith !== undefined && { failure: `Continue with: ${safeLine(continueWith)}` },
  ],
  exitCode({ status, refused }) {
    if (status === 'cancelled') return exitCode.interrupted
    if (status === 'waiting') return exitCode.waiting
    // A task whose calls nobody could approve was not done, whatever the model reports.
    if (refused) return exitCode.refused
    if (status === 'capped') return exitCode.budget
    return status === 'completed' ? exitCode.done : exitCode.failed
  },
  progress({ isTerminal, stdoutTaken }) {
    let inLine = false
    return {
      event(event) {
        if (!isTerminal || stdoutTaken) return undefined
        if (event.type === 'text') {
          if (event.delegation !== undefined) return undefined
          inLine = !event.text.endsWith('\n')
          return { stdout: safeText(event.text) }
        }
        const endsLine = inLine && (event.type === 'answered' || lineOf(event) !== undefined)
        if (!endsLine) return undefined
        inLine = false
        return { stdout: '\n' }
      },
    }
  },
})

function refuseContradictions({ skills, skill, concurrency }: Values<typeof options>) {
  const hint = '--no-skills offers neither skills nor subagents.'
  if (skills) return
  if (skill.length > 0) throw contradiction('--no-skills', '--skill', hint)
  if (concurrency !== undefined) throw contradiction('--no-skills', '--concurrency', hint)
}

async function instructionsOf({ instructions }: Values<typeof options>, context: Context<Event>) {
  const defaultInstructions = `You work in the directory ${context.runtime.cwd}. Use your tools to carry the task out, then answer.`
  return instructions === undefined
    ? defaultInstructions
    : `${await inputText(instructions, context)}\n\n${defaultInstructions}`
}

function usageLines({ total, byModel, byAgent }: UsageReport) {
  const parts = [byModel, byAgent].map((sums) => Object.entries(sums))
  const several = parts.filter((entries) => entries.length > 1).flat()
  const lines = several.map(([name, usage]) => `  ${usageText(safeLine(name), usage)}`)
  return [usageText('used', total), ...lines]
}

function referenceOf({ continue: isContinued, resume }: Values<typeof options>) {
  if (isContinued && resume !== undefined) {
    throw contradiction('--continue', '--resume', '--continue is --resume latest.')
  }
  return isContinued ? 'latest' : resume
}

function taskMissing(): UsageError {
  const hint = 'Say what to do, or continue a conversation with --continue or --resume ID.'
  return new UsageError({ code: 'task-missing', message: 'no task is given', hint })
}

/** Returns the options to repeat, since no conversation stores them. */
function lineAgain(id: string, context: Context<Event>, values: Values<typeof options>): string {
  const { model, baseUrl, tools, mcp, mcpServer, skills, agentsFile } = values
  const { directory, config, trustWorkspace } = context.globals
  const words: [flag: string, value: string | boolean | undefined][] = [
    ['-C', directory && context.runtime.cwd],
    ['--config', config],
    ['--trust-workspace', trustWorkspace],
    ['--resume', id],
    ['--model', model],
    ['--base-url', baseUrl],
    ['--tools', tools],
    ['--mcp', mcp],
    ...mcpServer.map((name): [string, string] => ['--mcp-server', name]),
    ['--no-skills', !skills],
    ['--agents-file', agentsFile],
  ]
  const givenOptions = words.flatMap(([flag, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? flag : `${flag} ${shellWord(value)}`
  })
  return ['skillrail agent', ...givenOptions].join(' ')
}

export const list = defineCommand<{ conversations: readonly ConversationInfo[] }>()({
  options: {},
  examples: ['agent list'],
  run: async ({ runtime, settings }) => ({
    conversations: await conversationFiles({ runtime, settings }).list(),
  }),
  render({ conversations }, { style, table, width }) {
    if (conversations.length === 0) return ''
    const head = ['ID', 'LAST USED', 'STATUS', 'TOKENS', 'MODEL', 'BEGINS WITH']
    const rows = conversations.map(({ id, updatedAt, status, usage, model, title }) => [
      style('bold', id),
      updatedAt === 0 ? '' : new Date(updatedAt).toISOString().slice(0, 16).replace('T', ' '),
      status,
      count(usage.inputTokens + usage.outputTokens),
      cell(model, 28),
      cell(title, Math.max(20, width - 90)),
    ])
    return table([head.map((text) => style('dim', text)), ...rows])
  },
  notes: ({ conversations }) => [
    conversations.length === 0
      ? 'There are no conversations of this project. skillrail agent "TASK" begins one.'
      : `\n${amount(conversations.length, 'conversation')}. Continue one with: skillrail agent --resume ID`,
  ],
})
