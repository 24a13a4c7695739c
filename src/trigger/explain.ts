import { mayBeMcpName } from '#core/mcp-names'
import type { TriggerDeclaration } from '#skill/model'
import { firstMatch, promptLines, type TriggerSkill } from './match.ts'
import { judgeExamples } from './examples.ts'
import { type ExampleVerdict, isByExamples, isCall, matchesOf, sureFrom } from './judge.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { isRequired, matchToolCall, type McpCall, type ToolCall } from './tool-call.ts'
import { costOf } from './inject.ts'

export type TriggerVerdict = { trigger: TriggerDeclaration } & (
  | {
      outcome: 'fired'
      text: string
      promptLine: number
      tokens: number | undefined
      problem?: string | undefined
      /** For a trigger with examples: how certain the match is, and which words decided it. */
      reason?: string | undefined
    }
  | { outcome: 'near-miss'; miss: NearMiss }
  | { outcome: 'no-match'; reason: string }
  | { outcome: 'invalid'; reason: string }
)

export interface SkillExplanation {
  skill: string
  verdicts: readonly TriggerVerdict[]
}

/**
 * Explains for every trigger whether a prompt fires it, and why; examples are compared with `all`.
 */
export function explainPrompt(
  prompt: string,
  skills: readonly TriggerSkill[],
  all = skills,
): SkillExplanation[] {
  const lines = promptLines(prompt)
  const verdict = judgeExamples(prompt, all)
  return skills.map((skill) => ({
    skill: skill.name,
    verdicts: skill.triggers.map((trigger): TriggerVerdict => {
      if (isByExamples(trigger)) return exampleVerdict(prompt, skill, trigger, verdict)
      const other = whenReason(trigger)
      if (other !== undefined) return { trigger, outcome: 'no-match', reason: other }
      const reading = compilePattern(trigger.match)
      if (!reading.ok) return { trigger, outcome: 'invalid', reason: reading.problem.message }
      const place = firstMatch(reading.pattern, lines)
      if (place) {
        return { trigger, outcome: 'fired', ...place, ...costOf(skill, trigger) }
      }
      const miss = nearMiss(reading.pattern, lines.join('\n'))
      if (miss) return { trigger, outcome: 'near-miss', miss }
      return { trigger, outcome: 'no-match', reason: farReason(reading.pattern) }
    }),
  }))
}

/** Explains for every trigger whether a tool call fires it, and why. */
export async function explainCall(
  call: ToolCall | McpCall,
  skills: readonly TriggerSkill[],
  place: { cwd: string; root: string },
): Promise<SkillExplanation[]> {
  const explanations: SkillExplanation[] = []
  for (const skill of skills) {
    const verdicts: TriggerVerdict[] = []
    for (const trigger of skill.triggers) {
      const [match] = await matchToolCall(call, [{ ...skill, triggers: [trigger] }], place)
      if (match) {
        const { text, promptLine } = match
        const where = call.kind === 'shell' ? `in line ${promptLine} of the command` : ''
        const reason = [where, isRequired(trigger) && 'denies the first call']
        const facts = { text, promptLine, reason: reason.filter(Boolean).join(', ') }
        verdicts.push({ trigger, outcome: 'fired', ...facts, ...costOf(skill, trigger) })
      } else
        verdicts.push({ trigger, outcome: 'no-match', reason: await callReason(trigger, call) })
    }
    explanations.push({ skill: skill.name, verdicts })
  }
  return explanations
}

async function callReason({ when }: TriggerDeclaration, call: ToolCall | McpCall): Promise<string> {
  if (!when || when.kind === 'examples') return 'it waits for a prompt, not for a tool call'
  if (when.kind === 'tool') {
    if (call.kind !== 'mcp') return 'it waits for a tool of an MCP server'
    const { tool, client } = call
    if (mayBeMcpName(tool, client)) return 'the name of the tool does not match'
    return `\`${tool}\` is not a name that a tool of an MCP server has`
  }
  if (when.kind === 'command') {
    if (call.kind !== 'shell') return 'it waits for a shell command'
    const { readShellCommands } = await import('#core/shell-commands')
    const { commandTexts } = await import('./command-match.ts')
    const texts = readShellCommands(call.command).commands.flatMap((command) =>
      commandTexts(command).slice(0, 1),
    )
    if (texts.length === 0) return 'the line runs no command'
    return `no command of the line matches: ${texts
      .slice(0, 5)
      .map((text) => `\`${text}\``)
      .join(', ')}`
  }
  const on = when.on === 'edit' ? 'edited' : 'read or edited'
  if (call.kind !== 'edit' && call.kind !== when.on) return `it waits until such a file is ${on}`
  return 'the file matches none of its globs'
}

function exampleVerdict(
  prompt: string,
  skill: TriggerSkill,
  trigger: TriggerDeclaration,
  verdict: ExampleVerdict | undefined,
): TriggerVerdict {
  const noMatch = (reason: string): TriggerVerdict => ({ trigger, outcome: 'no-match', reason })
  if (isCall(prompt))
    return noMatch('a prompt that begins with `/` or `$` calls a skill by its name')
  if (!verdict) return noMatch('the prompt has no word in common with a skill')
  const { name: skillName, probability, example, words } = verdict
  const list = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ')
  const why = words.length === 0 ? 'by its examples' : `by ${list(words.slice(0, 4))}`
  const sure = `${Math.floor(100 * probability)} % sure`
  if (skillName !== skill.name)
    return noMatch(`the prompt is most like ${skillName}, ${why} (${sure})`)
  if (matchesOf(prompt, verdict, skill).length > 0) {
    const place = { text: example, promptLine: 1, reason: `(an example: ${sure}, ${why})` }
    return { trigger, outcome: 'fired', ...place, ...costOf(skill, trigger) }
  }
  const but = verdict.isSure
    ? 'no example has two words of the prompt'
    : [
        `it is only ${sure}, and fires at ${100 * sureFrom} % or more`,
        ...verdict.missing.map((name) => `the skill does not mention ${name}`),
        ...(verdict.rival === undefined ? [] : [`${verdict.rival} fits nearly as well`]),
      ].join('; ')
  const nearest = example === '' ? '' : `, nearest to the example \`${example}\``
  const reason = `the prompt is most like this skill, ${why}${nearest}, but ${but}`
  return { trigger, outcome: 'near-miss', miss: { causes: ['not-sure'], reason } }
}

function whenReason({ when }: TriggerDeclaration): string | undefined {
  if (when?.kind === 'command') return 'it waits for a shell command, not for a prompt'
  if (when?.kind === 'tool') return 'it waits for a tool of an MCP server, not for a prompt'
  if (when?.kind !== 'paths') return undefined
  return `it waits until such a file is ${when.on === 'edit' ? 'edited' : 'read or edited'}`
}

function farReason({ required: [texts] }: Pattern): string {
  if (!texts) return 'no line of the prompt matches the pattern'
  return `the prompt does not contain ${texts.map((text) => `\`${text}\``).join(' or ')}`
}

/** `causes`: `not-sure`, or the causes of a relaxation. */
type NearMiss = { causes: readonly string[]; reason: string }

const relaxations: readonly {
  cause: string
  reason: string
  source?: (source: string) => string
  prompt?: (prompt: string) => string
}[] = [
  {
    cause: 'sigil',
    reason: 'a hook matches `$name …` and `/skill:name …` as `/name …`',
    prompt: (prompt) => prompt.replace(/^(\s*)(?:\$|\/skill:)(?=[a-z0-9])/, '$1/'),
  },
  {
    cause: 'blanks',
    reason: 'a line begins or ends with blanks, and a prompt is not trimmed',
    prompt: (prompt) => prompt.replace(/^[ \t]+|(?<![ \t])[ \t]+$/gm, ''),
  },
  {
    cause: 'case',
    reason: 'capitals count; write `[Aa]` where they should not',
    source: (source) => `(?i)${source}`,
  },
  {
    cause: 'not-at-start',
    reason: '`^` wants it at the beginning of a line',
    source: (source) => source.replace(/^((?:\(\?i\))?)\^/, '$1'),
  },
  {
    cause: 'not-at-end',
    reason: '`$` wants the line to end there',
    source: (source) => source.replace(/(?<!\\)\$$/, ''),
  },
]

/**
 * Returns undefined if the prompt was not close. A cause is named only if the trigger fires without
 * it.
 */
function nearMiss(pattern: Pattern, prompt: string): NearMiss | undefined {
  const pairs = relaxations.flatMap((first, index) =>
    relaxations.slice(index + 1).map((second) => [first, second]),
  )
  const fires = (chosen: typeof relaxations): boolean => {
    const source = chosen.reduce((last, one) => one.source?.(last) ?? last, pattern.source)
    const changedPrompt = chosen.reduce((last, one) => one.prompt?.(last) ?? last, prompt)
    const reading = compilePattern(source)
    return reading.ok && firstMatch(reading.pattern, promptLines(changedPrompt)) !== undefined
  }
  const misses = [...relaxations.map((one) => [one]), ...pairs].find(fires)
  if (!misses) return undefined
  const reason = misses.map((one) => one.reason).join('; ')
  return { causes: misses.map(({ cause }) => cause), reason }
}
