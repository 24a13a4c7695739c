import { defineCommand, option } from '#core/command'
import { exitCode, UsageError } from '#core/errors'
import { inputText, refuseInputTwice } from '#core/input-text'
import { safeText } from '#core/text'
import { Agent } from '#agent/agent'
import type { SubagentResult } from '#agent/subagents/delegation'
import type { AgentEvent } from '#agent/types'
import { findAgents } from './agents.ts'
import {
  agentOptions,
  CommandApprover,
  type Ending,
  modelOptions,
  tell,
  usageText,
} from './model-options.ts'

type DelegateResult = Omit<SubagentResult, 'result' | 'error'> & Ending & { turns: number }

export const command = defineCommand<DelegateResult, AgentEvent>()({
  arguments: {
    '<agent>': 'the name of a subagent; skillrail agent subagents list shows them',
    '<task>': 'what to do: text, @FILE, or - for stdin',
  },
  options: {
    ...modelOptions,
    context: option.text('--context <text>', 'additional context: text, @FILE, or -'),
    timeout: option.seconds('--timeout <seconds>', 'for the whole task'),
  },
  details:
    '--model is in place of the model of its definition. It may use what --tools (default all) and ' +
    '--mcp give, as far as its definition lists it. Exit code 5: its turns or its time ran out.',
  examples: ['agent delegate reviewer "Review src/index.ts" --model ollama:qwen3:8b'],
  async run(context, values) {
    const [name = '', taskArgument = ''] = values.arguments
    refuseInputTwice(taskArgument, '--context', values.context)
    const task = await inputText(taskArgument, context)
    if (task.trim() === '') {
      throw new UsageError({ code: 'task-empty', message: `the task for ${name} is empty` })
    }
    const more = values.context === undefined ? undefined : await inputText(values.context, context)
    const { ask } = context
    const approver = new CommandApprover({ ask, approvesAll: values.yes, canWait: false })
    // A subagent with its own model needs no other model.
    const defined = findAgents(context).agents.find(({ config }) => config.name === name)
    const definedModel = defined?.config.model
    const model = values.model ?? (typeof definedModel === 'string' ? definedModel : undefined)
    const agent = new Agent({
      ...agentOptions(context, { ...values, tools: values.tools ?? 'all', model }),
      skills: [],
      subagents: [],
      approver: approver.approve,
      onEvent: (event) => tell(event, context),
    })
    try {
      const { result, ...facts } = await agent.delegate(name, task, {
        signal: context.signal,
        context: more,
        model: values.model,
        maxTurns: values.maxTurns,
        timeoutMs: values.timeout,
      })
      const failure = facts.success ? undefined : (facts.error ?? facts.status)
      return { ...facts, turns: result?.turns ?? 0, ...approver.ending(failure) }
    } finally {
      await agent.close()
    }
  },
  render: ({ output }) => (output === '' ? '' : `${safeText(output)}\n`),
  notes: ({ subagentName, error, usage }) => [
    error !== undefined && { failure: `${subagentName}: ${error}` },
    usageText('used', usage),
  ],
  exitCode({ success, endReason, refused }) {
    if (endReason === 'parent-cancelled') return exitCode.interrupted
    if (refused) return exitCode.refused
    if (success) return exitCode.done
    return endReason === 'capped' || endReason === 'timeout' ? exitCode.budget : exitCode.failed
  },
})
