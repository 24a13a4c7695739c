import { estimateTokens, safeLine, withoutLastWord } from '#core/text'
import type { SkillFields } from '#skill/model'
import { readTarget } from './inject.ts'

export const tierZeroFiles = [
  'CLAUDE.md',
  'AGENTS.md',
  'GEMINI.md',
  '.cursorrules',
  '.github/copilot-instructions.md',
] as const

export const tierZeroMarkers = {
  begin: '<!-- skillrail:index -->',
  end: '<!-- /skillrail:index -->',
} as const

/** Most characters of a line of the index: about 50 tokens. */
const longestLine = 220

export interface TierZeroLine {
  skill: string
  text: string
  tokens: number
}

/** Returns the index line of a skill: its purpose, when to use it, its subcommands. */
export function tierZeroLine(name: string, fields: SkillFields): TierZeroLine {
  const head = fields.userInvocable ? `- \`/${name}\`: ` : `- ${name}: `
  const subcommands = subcommandsOf(name, fields)
  const tail = subcommands.length === 0 ? '' : ` Subcommands: ${subcommands.join(', ')}.`
  const room = longestLine - head.length - tail.length
  const text = head + shorten(purposeOf(fields.description ?? ''), room) + tail
  return { skill: name, text, tokens: estimateTokens(text) }
}

export function tierZeroBlock(lines: readonly { text: string }[]): string {
  const title =
    '## Skills\n\nUse a skill when its line fits the task; its instructions load then.\n\n'
  return title + lines.map(({ text }) => `${text}\n`).join('')
}

function purposeOf(description: string): string {
  // A comment in a description must not open or close anything in the file it is written to.
  const clean = safeLine(description)
    .replace(/<!--|-->/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  const sentences = clean.split(/(?<=[.!?])\s+(?=[A-Z])/)
  const [purpose = '', ...rest] = sentences
  const when = rest.find((sentence) => /\b(?:use|when|whenever|if)\b/i.test(sentence))
  return when === undefined ? purpose : `${purpose} ${when}`
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const cut = text.slice(0, Math.max(length - 1, 0))
  return `${withoutLastWord(cut).replace(/[,;:.]$/, '')}…`
}

/**
 * Words that follow the name: from `argument-hint: "[program|amend] [--force]"` and from triggers.
 */
function subcommandsOf(name: string, { argumentHint = '', triggers }: SkillFields): string[] {
  const [hinted = ''] = /^[[<{(]?[a-z][\w-]*(?:\s*\|\s*[a-z][\w-]*)+/.exec(argumentHint) ?? []
  const words = hinted.replace(/^[^a-z]/, '').split('|')
  for (const { match } of triggers) {
    const prefix = `^/${name} `
    if (!match.startsWith(prefix)) continue
    const [, group, word = ''] =
      /^(?:\(([a-z][\w|-]*)\)|([a-z][\w-]*))/.exec(match.slice(prefix.length)) ?? []
    words.push(...(group ?? word).split('|'))
  }
  return [...new Set(words.map((word) => word.trim()).filter((word) => word !== ''))]
}

/** Estimated tokens of a skill by tier, and of a prompt with and without triggers. */
export interface TokenReport {
  skill: string
  discovery: number
  metadata: number
  instructions: number
  /** `tokens` is undefined if the reference cannot be read. */
  references: readonly { path: string; tokens: number | undefined }[]
  withoutTriggers: number
  withTriggers: number
  /** Percent of `withoutTriggers` that triggers save. */
  saved: number
}

interface MeasuredSkill {
  name: string
  directory: string
  fields: SkillFields
  tokens: { metadata: number; body: number }
}

export function tokenReport({ name, directory, fields, tokens }: MeasuredSkill): TokenReport {
  const paths = [...new Set(fields.triggers.map(({ inject }) => inject))]
  const references = paths.map((path) => {
    const target = readTarget(directory, path)
    return { path, tokens: target.ok ? estimateTokens(target.text) : undefined }
  })
  const readable = references.flatMap((reference) => reference.tokens ?? [])
  const all = readable.reduce((sum, count) => sum + count, 0)
  const withoutTriggers = tokens.body + all
  const withTriggers = tokens.body + Math.round(all / Math.max(readable.length, 1))
  const share = withoutTriggers === 0 ? 0 : 1 - withTriggers / withoutTriggers
  const discovery = tierZeroLine(name, fields).tokens
  const { metadata, body: instructions } = tokens
  const saved = Math.round(share * 100)
  const tiers = { discovery, metadata, instructions, references }
  return { skill: name, ...tiers, withoutTriggers, withTriggers, saved }
}
