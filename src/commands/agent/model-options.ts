import { type Context, option, type OptionSpecs, type Values } from '#core/command'
import { contradiction, UsageError } from '#core/errors'
import { commaNames } from '#core/option-values'
import { redactText, redactValue } from '#core/redact'
import { amount, cell, count, safeLine, safeText } from '#core/text'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { NoServersError, unaskedServers } from '#tools/server/errors'
import { findWorkspace } from '#core/read-files'
import { summarizeOldest } from '#agent/conversation/compact'
import type { AgentOptions } from '#agent/agent-options'
import { maxTurnsExceeded } from '#agent/loop/run-loop'
import type { AgentEvent, Approval, ApprovalRequest, TokenUsage } from '#agent/types'

export const modelOptions = {
  model: option.text('--model <provider:name>', 'the model, such as anthropic:claude-sonnet-4-5'),
  baseUrl: option.text('--base-url <url>', 'the address, such as http://127.0.0.1:11434/v1'),
  tools: option.text('--tools <names>', 'built-in tools: read,list,search,write,edit,shell or all'),
  mcp: option.flag('--mcp', 'offer the tools of all configured MCP servers'),
  mcpServer: option.list('--mcp-server <name>', 'offer the tools of one server (repeatable)'),
  maxTurns: option.integer('--max-turns <number>', 'maximum number of model calls', {
    least: 1,
    most: 9999,
  }),
  maxTokens: option.integer('--max-tokens <number>', 'maximum tokens, subagents included', {
    least: 1,
    most: 1_000_000_000,
  }),
  compact: option.choice('--compact <how>', 'how a long conversation gets shorter', {
    choices: ['drop', 'summary'],
    default: 'drop',
  }),
  yes: option.flag('--yes', 'approve every call of a tool'),
} as const satisfies OptionSpecs

type ModelValues = Omit<Values<typeof modelOptions>, 'arguments'>

export function agentOptions(
  { runtime, settings, note }: Pick<Context, 'runtime' | 'settings' | 'note'>,
  { model, baseUrl, tools, mcp, mcpServer, maxTurns, maxTokens, compact }: ModelValues,
): AgentOptions {
  if (mcp && mcpServer.length > 0) {
    throw contradiction('--mcp', '--mcp-server', '--mcp offers the tools of all servers.')
  }
  const name = model ?? settings.agent.model
  if (name === '') {
    const hint = 'Give --model provider:name, or set agent.model.'
    throw new UsageError({ code: 'model-missing', message: 'no model is named', hint })
  }
  // The SDK itself would print warnings about features that a provider lacks.
  Reflect.set(globalThis, 'AI_SDK_LOG_WARNINGS', false)
  const named = mcpServer.length > 0 ? mcpServer : undefined
  if (mcp) {
    const project = findWorkspace(runtime.cwd, runtime)
    const place = { project, runtime, trust: settings.workspaceTrust }
    const problem = unaskedServers(readServerConfiguration(place))
    if (problem instanceof NoServersError) note(`${problem.message}.`)
  }
  return {
    model: name,
    runtime,
    settings,
    baseUrl,
    builtIns: tools === undefined ? undefined : commaNames(tools),
    mcp: mcp ? 'project' : named,
    maxTurns: maxTurns ?? settings.agent.maxTurns,
    maxTokens,
    limits: {
      budget: settings.agent.contextTokens,
      strategy: compact === 'summary' ? summarizeOldest : undefined,
    },
  }
}

export function tell(event: AgentEvent, context: Context<AgentEvent>): void {
  context.emit(event)
  if (event.type === 'reasoning') context.note(safeText(event.text.trim()), 'detail')
  const line = lineOf(event)
  if (line !== undefined) context.note(line)
}

export function usageText(label: string, usage: TokenUsage): string {
  const { inputTokens, outputTokens, requests } = usage
  return `${label}: ${amount(requests, 'request')}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out`
}

const longest = 100

/**
 * Returns undefined for events without a line: text, and the end of a step or of a successful call.
 */
export function lineOf(event: AgentEvent): string | undefined {
  const whose = event.agent === 'main' ? '' : `[${safeLine(event.agent)}] `
  switch (event.type) {
    case 'tool-call':
      return `${whose}${safeLine(event.tool)} ${cell(JSON.stringify(redactValue(event.input)), longest)}`
    case 'tool-result': {
      if (!event.isError) return undefined
      const text = typeof event.output === 'string' ? event.output : JSON.stringify(event.output)
      return `${whose}${safeLine(event.tool)}: ${cell(redactText(text), longest)}`
    }
    case 'skill':
      return `${whose}skill ${safeLine(event.name)} ${event.active ? 'active' : 'done'}`
    case 'delegation':
      return `[${safeLine(event.subagent)}] ${event.status}`
    case 'notice':
      return `${whose}${safeLine(redactText(event.message))}`
    case 'text':
    case 'reasoning':
    case 'waiting':
    case 'step':
      return undefined
  }
}

export interface Ending {
  error?: string | undefined
  /** Tools whose calls were refused because nobody could be asked. */
  refused?: readonly string[] | undefined
}

interface ApproverOptions extends Pick<Context, 'ask'> {
  approvesAll: boolean
  canWait: boolean
}

export class CommandApprover {
  readonly #options: ApproverOptions
  readonly #always = new Set<string>()
  readonly #unasked = new Set<string>()

  constructor(options: ApproverOptions) {
    this.#options = options
  }

  readonly approve = async (request: ApprovalRequest): Promise<Approval> => {
    const { agent, tool, reason, signal } = request
    // The reason is part of the key: a yes to a tool is not a yes to a call outside the project.
    const key = `${agent} ${tool.name} ${reason}`
    const { ask, approvesAll, canWait } = this.#options
    if (approvesAll || this.#always.has(key)) return { approved: true }
    const nobody = new Error('no answer was given')
    let answer: string
    try {
      const question = { text: questionText(request), otherwise: () => nobody }
      answer = (await ask(question, signal)).trim()
    } catch (error) {
      if (signal.aborted) return { approved: false, reason: 'the call was cancelled' }
      if (error !== nobody) throw error
      if (canWait && agent === 'main') return { approved: 'later' }
      this.#unasked.add(tool.name)
      return { approved: false, reason: 'it needs an approval, and the shell is not interactive' }
    }
    if (/^a(?:lways)?$/i.test(answer)) this.#always.add(key)
    if (/^(?:y(?:es)?|a(?:lways)?)$/i.test(answer)) return { approved: true }
    const userReason = /^(?:no?)?$/i.test(answer) ? '' : `, and said: ${answer}`
    return { approved: false, reason: `the user did not approve it${userReason}` }
  }

  ending(error = ''): Ending {
    const ended = error === maxTurnsExceeded ? `${error}. --max-turns gives it more.` : error
    if (this.#unasked.size === 0) return { error: ended || undefined, refused: undefined }
    const refused = [...this.#unasked]
    const why = `Refused without approval, because the shell is not interactive: ${refused.join(', ')}.`
    return { error: `${ended}\n${why} Run it with --yes.`.trimStart(), refused }
  }
}

function questionText({ agent, tool, input, reason, effect }: ApprovalRequest): string {
  const who = agent === 'main' ? 'The agent' : `The subagent ${agent}`
  const lines = [
    `${who} wants to call ${tool.name} (${reason}).`,
    effect ?? JSON.stringify(input, null, 2),
    'Allow it? [y]es, [a]lways this tool, [N]o, or say what to do instead: ',
  ]
  return safeText(lines.join('\n'))
}
