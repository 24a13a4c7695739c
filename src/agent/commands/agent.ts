import { type Context, defineCommand, option, type Values } from '../../core/command.ts'
import { contradiction, exitCode } from '../../core/errors.ts'
import { inputText, refuseInputTwice } from '../../core/input-text.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { Agent, type AgentResult } from '../agent.ts'
import type { AgentEvent } from '../types.ts'
import type { UsageReport } from '../usage.ts'
import { CommandApprover, type Ending } from './approver.ts'
import {
  agentOptions,
  lineOf,
  modelOptions,
  noteMissingServers,
  tell,
  usageText,
} from './model-options.ts'

interface AgentCommandResult
  extends Ending, Pick<AgentResult, 'status' | 'text' | 'turns' | 'durationMs'> {
  tools: { agent: string; delegation?: string | undefined; tool: string; isError: boolean }[]
  usage: UsageReport
}

/** `answered` follows the last event of the agent. */
type Event = AgentEvent | { type: 'answered' }

const options = {
  ...modelOptions,
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
} as const

export const command = defineCommand<AgentCommandResult, Event>()({
  arguments: { '<task>': 'what to do: text, @FILE, or - for stdin' },
  options,
  details:
    'Calls that are not read-only need approval in an interactive shell. In a non-interactive shell\n' +
    'they are refused, with exit code 4. Exit code 1: the model failed; 5: no turns left.',
  examples: [
    'agent "Summarise the README." --model ollama:qwen3:8b --tools read',
    'agent "/code-review src" --model anthropic:claude-sonnet-4-5 --tools read,search',
  ],
  async run(context, values) {
    const [given = ''] = values.arguments
    refuseContradictions(values)
    refuseInputTwice(given, '--instructions', values.instructions)
    const task = await inputText(given, context)
    const approver = new CommandApprover(context, values.yes)
    noteMissingServers(context, values)
    const tools: AgentCommandResult['tools'] = []
    const agent = new Agent({
      ...agentOptions(context, values),
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
      const result = await agent.generate(task, { signal: context.signal, stream: true })
      context.emit({ type: 'answered' })
      const { status, text, turns, durationMs } = result
      const ending = approver.ending(result.error)
      return { status, text, ...ending, turns, durationMs, tools, usage: agent.usage }
    } finally {
      await agent.close()
    }
  },
  // On a terminal the text was printed as it came.
  render: ({ text }, { isTerminal }) => (isTerminal || text === '' ? '' : `${safeText(text)}\n`),
  notes: ({ error, usage }) => [
    ...(error === undefined ? [] : [{ failure: error }]),
    ...usageLines(usage),
  ],
  exitCode({ status, refused }) {
    if (status === 'cancelled') return exitCode.interrupted
    // A task whose calls nobody could approve was not done, whatever the model says of it.
    if (refused !== undefined) return exitCode.refused
    if (status === 'capped') return exitCode.budget
    return status === 'completed' ? exitCode.done : exitCode.badAnswer
  },
  progress({ isTerminal }) {
    let inLine = false
    return {
      event(event) {
        if (!isTerminal) return undefined
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

function refuseContradictions({ skills, skill, concurrency }: Values<typeof options>): void {
  const refuse = (option: string, hint: string): void => {
    if (!skills) throw contradiction('--no-skills', option, hint)
  }
  if (skill.length > 0) refuse('--skill', 'A skill is active only where skills are offered.')
  if (concurrency !== undefined) refuse('--concurrency', 'It offers no subagents that could work.')
}

async function instructionsOf({ instructions }: Values<typeof options>, context: Context<Event>) {
  const own = `You work in the directory ${context.runtime.cwd}. Use your tools to carry the task out, then answer.`
  return instructions === undefined ? own : `${await inputText(instructions, context)}\n\n${own}`
}

function usageLines({ total, byModel, byAgent }: UsageReport): string[] {
  const parts = [byModel, byAgent].map((sums) => Object.entries(sums))
  const several = parts.filter((entries) => entries.length > 1).flat()
  const lines = several.map(([name, usage]) => `  ${usageText(safeLine(name), usage)}`)
  return [usageText('used', total), ...lines]
}
