import { redactText, redactValue, safeLine, safeText } from '../base/index.ts'
import type { AgentEvent, TokenUsage, UsageReport } from '../agent/index.ts'
import { amount, cell, count } from '../base/text.ts'
import type { CommandContext } from './command.ts'

export interface AgentProgress {
  onEvent(event: AgentEvent): void
  /** Ends the line of text that was being written. */
  finish(): void
}

/**
 * What an agent and its subagents do, while they do it: tools, skills and delegations on standard
 * error; the agent's own text on standard output as it comes, where that is a terminal.
 */
export function agentProgress({ output, options }: CommandContext): AgentProgress {
  const shows = output.isTerminal && !options.json
  let inLine = false
  const finish = (): void => {
    if (inLine) output.line()
    inLine = false
  }
  return {
    finish,
    onEvent(event) {
      if (event.type === 'text') {
        if (!shows || event.delegation !== undefined) return
        output.raw(safeText(event.text))
        inLine = !event.text.endsWith('\n')
        return
      }
      const line = lineOf(event)
      if (line === undefined) return
      finish()
      output.note(line)
    },
  }
}

/** What was used: in all, then by model and by subagent where there are several. */
export function usageLines({ total, byModel, byAgent }: UsageReport): string[] {
  const parts = [byModel, byAgent].flatMap((sums) => {
    const entries = Object.entries(sums)
    return entries.length < 2 ? [] : entries
  })
  return [
    usageText('used', total),
    ...parts.map(([name, usage]) => `  ${usageText(safeLine(name), usage)}`),
  ]
}

/** `used: 3 requests, 1,200 tokens in, 80 out`. */
export function usageText(label: string, usage: TokenUsage): string {
  const { inputTokens, outputTokens, requests } = usage
  return `${label}: ${amount(requests, 'request')}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out`
}

const longest = 100

function lineOf(event: Exclude<AgentEvent, { type: 'text' }>): string | undefined {
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
    case 'step':
      return undefined
  }
}

function whose({ agent }: { agent: string }): string {
  return agent === 'main' ? '' : `[${safeLine(agent)}] `
}
