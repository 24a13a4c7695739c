import type { Context } from '../../core/command.ts'
import { redactText, redactValue } from '../../core/redact.ts'
import { amount, cell, count, safeLine } from '../../core/text.ts'
import type { AgentEvent, TokenUsage } from '../types.ts'

/** Emits an event, and notes on stderr what the agent and its subagents do. */
export function tell(event: AgentEvent, context: Context<AgentEvent>): void {
  context.emit(event)
  const line = lineOf(event)
  if (line !== undefined) context.note(line)
}

/** `used: 3 requests, 1,200 tokens in, 80 out`. */
export function usageText(label: string, usage: TokenUsage): string {
  const { inputTokens, outputTokens, requests } = usage
  return `${label}: ${amount(requests, 'request')}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out`
}

const longest = 100

/** Undefined for what is not noted: text, and the end of a step or of a successful call. */
export function lineOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'tool-call':
      return `${whose(event)}${safeLine(event.tool)} ${cell(JSON.stringify(redactValue(event.input)), longest)}`
    case 'tool-result': {
      if (!event.isError) return undefined
      const text = typeof event.output === 'string' ? event.output : JSON.stringify(event.output)
      return `${whose(event)}${safeLine(event.tool)}: ${cell(redactText(text), longest)}`
    }
    case 'skill':
      return `${whose(event)}skill ${safeLine(event.name)} ${event.active ? 'active' : 'done'}`
    case 'delegation':
      return `[${safeLine(event.subagent)}] ${event.status}`
    case 'notice':
      return `${whose(event)}${safeLine(redactText(event.message))}`
    case 'text':
    case 'step':
      return undefined
  }
}

function whose({ agent }: { agent: string }): string {
  return agent === 'main' ? '' : `[${safeLine(agent)}] `
}
