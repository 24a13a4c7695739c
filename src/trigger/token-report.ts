import { estimateTokens } from '../skill/index.ts'
import type { TriggerSkill } from './match.ts'
import type { TargetReader } from './read-target.ts'
import type { TierZeroLine } from './tier-zero.ts'

/** What a skill costs, tier by tier, and what a prompt costs with and without triggers. */
export interface TokenReport {
  skill: string
  /** The line in a project's `CLAUDE.md`, and so on. */
  discovery: number
  /** Name and description. */
  metadata: number
  /** The body. */
  instructions: number
  /** Each file that a trigger injects, once; undefined where it cannot be read. */
  references: readonly { path: string; tokens: number | undefined }[]
  /** The body and every reference: what a model that loads all "just in case" reads. */
  withoutTriggers: number
  /** The body and what one trigger injects, on average over the references. */
  withTriggers: number
  /** In percent of `withoutTriggers`. */
  saved: number
}

export function tokenReport(
  skill: TriggerSkill & { tokens: { metadata: number; body: number } },
  discovery: TierZeroLine,
  read: TargetReader,
): TokenReport {
  const paths = [...new Set(skill.triggers.map(({ inject }) => inject))]
  const references = paths.map((path) => {
    const target = read(skill.directory, path)
    return { path, tokens: target.ok ? estimateTokens(target.text) : undefined }
  })
  const readable = references.flatMap(({ tokens }) => (tokens === undefined ? [] : [tokens]))
  const all = readable.reduce((sum, tokens) => sum + tokens, 0)
  const { metadata, body } = skill.tokens
  const withoutTriggers = body + all
  const withTriggers = body + (readable.length === 0 ? 0 : Math.round(all / readable.length))
  const saved = withoutTriggers === 0 ? 0 : 1 - withTriggers / withoutTriggers
  return {
    skill: skill.name,
    discovery: discovery.tokens,
    metadata,
    instructions: body,
    references,
    withoutTriggers,
    withTriggers,
    saved: Math.round(saved * 100),
  }
}
