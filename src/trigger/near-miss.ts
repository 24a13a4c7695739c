import type { TriggerDeclaration } from '../skill/index.ts'
import { firstMatch } from './match.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { promptText, type PromptText } from './prompt-text.ts'

/** Why a trigger that looks as if it should have fired did not. */
export interface NearMiss {
  causes: readonly NearMissCause[]
  /** For the author: the causes in words. */
  reason: string
}

export type NearMissCause = 'sigil' | 'blanks' | 'not-at-start' | 'not-at-end' | 'case' | 'part'

/** What a pattern and a prompt are once a cause is taken away. */
interface Attempt {
  source: string
  prompt: string
}

interface Relaxation {
  cause: NearMissCause
  reason: string
  relax: (attempt: Attempt) => Attempt
}

const relaxations: readonly Relaxation[] = [
  {
    cause: 'sigil',
    reason: 'a hook matches `$name …` and `/skill:name …` as `/name …`',
    relax: ({ source, prompt }) => ({
      source,
      prompt: prompt.replace(/^(\s*)(?:\$|\/skill:)(?=[a-z0-9])/, '$1/'),
    }),
  },
  {
    cause: 'blanks',
    reason: 'a line begins or ends with blanks, and a prompt is not trimmed',
    relax: ({ source, prompt }) => ({
      source,
      prompt: prompt.replace(/^[ \t]+|(?<![ \t])[ \t]+$/gm, ''),
    }),
  },
  {
    cause: 'case',
    reason: 'capitals count; write `[Aa]` where they should not',
    relax: ({ source, prompt }) => ({ source: `(?i)${source}`, prompt }),
  },
  {
    cause: 'not-at-start',
    reason: '`^` wants it at the beginning of a line',
    relax: ({ source, prompt }) => ({ source: source.replace(/^((?:\(\?i\))?)\^/, '$1'), prompt }),
  },
  {
    cause: 'not-at-end',
    reason: '`$` wants the line to end there',
    relax: ({ source, prompt }) => ({ source: source.replace(/(?<!\\)\$$/, ''), prompt }),
  },
]

/**
 * Explains a trigger that did not fire; undefined where it was not even close. Each cause is a test:
 * the trigger fires once everything that is named is taken away, and not before.
 */
export function nearMiss({ match }: TriggerDeclaration, prompt: PromptText): NearMiss | undefined {
  const reading = compilePattern(match)
  if (!reading.ok || firstMatch(reading.pattern, prompt) !== undefined) return undefined
  const attempt = { source: match, prompt: prompt.lines.join('\n') }
  for (const chosen of combinations()) {
    if (fires(chosen.reduce((last, { relax }) => relax(last), attempt))) {
      return {
        causes: chosen.map(({ cause }) => cause),
        reason: chosen.map(({ reason }) => reason).join('; '),
      }
    }
  }
  return partMiss(reading.pattern, prompt)
}

/** One cause, then two. */
function combinations(): Relaxation[][] {
  const pairs = relaxations.flatMap((first, index) =>
    relaxations.slice(index + 1).map((second) => [first, second]),
  )
  return [...relaxations.map((one) => [one]), ...pairs]
}

function fires({ source, prompt }: Attempt): boolean {
  const reading = compilePattern(source)
  return reading.ok && firstMatch(reading.pattern, promptText(prompt)) !== undefined
}

/** The longest beginning of what the prompt must contain that it does contain. */
function partMiss({ plan }: Pattern, prompt: PromptText): NearMiss | undefined {
  const wanted = plan.engine === 'text' ? [plan.text] : plan.required.flat()
  for (const text of wanted) {
    if (prompt.contains(text)) continue
    let length = text.length - 1
    while (length > 0 && !prompt.contains(text.slice(0, length))) length--
    // Half of it, and a short word at least: anything less is chance.
    if (length < 4 || length * 2 < text.length) continue
    const reason = `the prompt has \`${text.slice(0, length)}\`, and \`${text}\` is wanted`
    return { causes: ['part'], reason }
  }
  return undefined
}
