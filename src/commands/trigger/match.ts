import { defineCommand, option, type Screen } from '#core/command'
import { UsageError } from '#core/errors'
import { mayBeMcpName, mcpNameForm } from '#core/mcp-names'
import { amount, cell, count, linesText, safeLine, safeText } from '#core/text'
import { adapters, type Platform, platforms } from '#hooks/adapters'
import { canonicalPrompt, readCall } from '#hooks/prompt'
import { promptRefusal, type PromptRefusal } from '#hooks/refused-prompts'
import {
  explainCall,
  explainPrompt,
  type SkillExplanation,
  type TriggerVerdict,
} from '#trigger/explain'
import { renderInjection } from '#trigger/inject'
import type { McpCall, ToolCall } from '#trigger/tool-call'
import {
  callInjectionFor,
  callText,
  injectionFor,
  type MatchResult,
  matchResult,
  placeOfCalls,
} from '#project/injection'
import { readText, skillsFor } from '#project/skills'
import { promptFor, promptOptions } from './options.ts'

interface ShownMatches extends MatchResult {
  explanation?: readonly SkillExplanation[] | undefined
  /** The tool call that was tried in place of a prompt. */
  call?: ToolCall | McpCall | undefined
  /** The client that passes the prompt to no hook. */
  refusal?: PromptRefusal | undefined
}

export const match = defineCommand<ShownMatches>()({
  arguments: { '[prompt...]': 'what the user types (default: stdin)' },
  options: {
    explain: option.flag('--explain', 'show for every trigger why it matched or not'),
    client: option.choice(
      '--client <name>',
      'read the prompt, or the name of a tool, as the hook of this client does',
      { choices: platforms },
    ),
    file: option.text('--file <path>', 'try a tool call that edits this file, instead of a prompt'),
    command: option.text('--command <line>', 'try a shell command, instead of a prompt'),
    tool: option.text(
      '--tool <name>',
      'try a tool of an MCP server; with --file or --command, the tool as its client names it (default: Edit, or Bash)',
    ),
    ...promptOptions,
  },
  details:
    'Exits with 0 whether a trigger fires or not; `matches` of --json is empty if none does.',
  examples: [
    'triggers match "/deploy staging" --explain',
    'triggers match --client codex "$deploy staging"',
    'triggers match --file src/app.ts --tool Read',
    'triggers match --command "git push" --explain',
    'triggers match --tool mcp__database__execute_query --explain',
  ],
  async run(context, { arguments: words, skill: references, budget, explain, client, ...tried }) {
    const call = triedCall(words, tried, client)
    if (call) {
      const answer = await callInjectionFor(context, { call, references, tokenBudget: budget })
      const explanation = explain
        ? await explainCall(call, answer.skills, placeOfCalls(context))
        : undefined
      return { ...matchResult(callText(call), answer), call, explanation }
    }
    const typedPrompt = await promptFor(context, words)
    const { skills } = skillsFor(context, references)
    const named = new Map(skills.map((skill) => [skill.name, skill]))
    const prompt = canonicalPrompt(typedPrompt, client ? adapters[client].sigil : 'slash', {
      has: (name) => named.has(name),
      textOf(name) {
        const path = named.get(name)?.path
        return path === undefined ? undefined : readText(path)
      },
    })
    const called = /^\s*(?:\/skill:|[/$])([a-z0-9][a-z0-9-]*)(?=\s|$)/.exec(typedPrompt)?.[1]
    if (called !== undefined && !named.has(called))
      context.note(`No skill ${called} is installed here.`)
    const answer = injectionFor(context, { prompt, references, tokenBudget: budget })
    const { runtime } = context
    const hasSkill = (name: string): boolean => {
      const skill = named.get(name)
      // A skill that is named on the command line counts as installed.
      const isRead = references.length > 0 || client === undefined
      return skill !== undefined && (isRead || skill.clients.includes(client))
    }
    const refusal = client && promptRefusal(client, typedPrompt, { hasSkill, runtime })
    if (refusal) {
      const nothing = { ...answer, matches: [], injected: [], deferred: [] }
      return { ...matchResult(prompt, nothing), refusal }
    }
    const explanation = explain ? explainPrompt(prompt, answer.skills) : undefined
    return { ...matchResult(prompt, answer), explanation }
  },
  render({ matches, explanation }, screen) {
    if (explanation) return explanationText(explanation, screen)
    if (matches.length === 0) return ''
    const rows = matches.map(({ skill, match, inject, tokens, text }) => [
      cell(skill, 32),
      cell(match, 40),
      cell(inject, 40),
      tokens === null ? '-' : count(tokens),
      cell(text, 40),
    ])
    return screen.table([['SKILL', 'TRIGGER', 'INJECTS', 'TOKENS', 'FIRED ON'], ...rows])
  },
  notes({ matches, explanation, injected, deferred, diagnostics, call, refusal }) {
    if (refusal) return [`${refusal.message} ${refusal.hint}`, ...diagnostics]
    const tokens = injected.reduce((sum, reference) => sum + reference.tokens, 0)
    return [
      !explanation &&
        matches.length === 0 &&
        `No trigger fires on this ${call ? 'tool call' : 'prompt'}.`,
      matches.some(({ denies }) => denies) &&
        'The first such call is denied, with the references as the reason.',
      `${amount(injected.length, 'reference')} injected, ${count(tokens)} tokens`,
      ...deferred.map(
        ({ skill, path, reason }) => `not injected: ${safeLine(path)} of ${skill}: ${reason}`,
      ),
      ...diagnostics,
    ]
  },
})

/** Returns the tool call of `--file`, `--command` and `--tool`; undefined for a prompt. */
function triedCall(
  words: readonly string[],
  { file, command, tool }: Partial<Record<'file' | 'command' | 'tool', string | undefined>>,
  client: Platform | undefined,
): ToolCall | McpCall | undefined {
  const options = [file, command, tool].filter((one) => one !== undefined)
  if (options.length === 0) return undefined
  if (words.length > 0 || (file !== undefined && command !== undefined)) {
    const message =
      'a prompt, --file and --command exclude each other, and so do a prompt and --tool'
    throw new UsageError({ code: 'option-conflict', message })
  }
  if (tool !== undefined && file === undefined && command === undefined) {
    // A tool of the client itself needs what it is called with.
    if (!readCall(tool, {}) && mayBeMcpName(tool, client)) return { kind: 'mcp', tool, client }
    const message = `\`${tool}\` is not the name of an MCP tool, which has the form ${mcpNameForm(client)}`
    const hint = 'For a tool of the client itself, say what it gets: --file PATH or --command LINE.'
    throw new UsageError({ code: 'tool-input-missing', message, hint })
  }
  const name = tool ?? (file === undefined ? 'Bash' : 'Edit')
  const call = readCall(name, { file_path: file, command })
  const isRead = call && (call.kind === 'shell' ? command !== undefined : file !== undefined)
  if (isRead) return call
  const message = `no trigger sees a call of \`${name}\` with ${file === undefined ? 'a command' : 'a file'}`
  const hint =
    'Triggers see the tools of clients that edit or read a file, or run a shell command, such as Edit, Write, Read and Bash.'
  throw new UsageError({ code: 'tool-unseen', message, hint })
}

function explanationText(explanation: readonly SkillExplanation[], screen: Screen): string {
  const lines = explanation.flatMap(({ skill, verdicts }) => {
    const heading = screen.style('bold', safeLine(skill))
    if (verdicts.length === 0) return [`${heading}: no triggers`]
    return [heading, ...verdicts.map((verdict) => `  ${verdictLine(verdict, screen)}`)]
  })
  return linesText(lines)
}

function verdictLine(verdict: TriggerVerdict, { style }: Screen): string {
  const { match, inject, line } = verdict.trigger
  const trigger = safeLine(`${match} -> ${inject} (line ${line})`)
  switch (verdict.outcome) {
    case 'fired': {
      const cost =
        verdict.tokens === undefined
          ? `injects nothing: ${safeLine(verdict.problem ?? '')}`
          : `${count(verdict.tokens)} tokens`
      const text = safeLine(verdict.text.slice(0, 200))
      const where = verdict.reason ?? `in line ${verdict.promptLine} of the prompt`
      return `${style('green', 'fired')}   ${trigger}: on \`${text}\` ${safeLine(where)}; ${cost}`
    }
    case 'near-miss':
      return `${style('yellow', 'missed')}  ${trigger}: ${safeLine(verdict.miss.reason)}`
    case 'invalid':
      return `${style('red', 'invalid')} ${trigger}: ${safeLine(verdict.reason)}`
    case 'no-match':
      return `${style('dim', '-')}       ${trigger}: ${safeLine(verdict.reason)}`
  }
}

type Injection = Omit<MatchResult, 'matches'> & { text: string }

export const inject = defineCommand<Injection>()({
  arguments: { '[prompt...]': 'what the user types (default: stdin)' },
  options: promptOptions,
  examples: [
    'triggers inject "/deploy staging"',
    'triggers inject --skill skills/deploy "/deploy staging"',
  ],
  async run(context, { arguments: words, skill: references, budget }) {
    const prompt = await promptFor(context, words)
    const answer = injectionFor(context, { prompt, references, tokenBudget: budget })
    const { matches: _matches, ...result } = matchResult(prompt, answer)
    return { ...result, text: renderInjection(answer.injected) }
  },
  // A pipe gets the bytes unchanged; they must not control a terminal.
  render: ({ text }, screen) => (screen.isTerminal ? safeText(text) : text),
  notes: ({ diagnostics, deferred }) => [
    ...diagnostics,
    ...deferred.map(({ skill, path, reason }) => `not injected: ${path} of ${skill}: ${reason}`),
  ],
})
