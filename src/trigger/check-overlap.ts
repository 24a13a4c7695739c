import type { Diagnostic } from '../core/diagnostic.ts'
import { firstMatch, promptLines, type TriggerSkill } from './match.ts'
import { parsePattern, type PatternNode } from './parse-pattern.ts'
import { compilePattern } from './pattern.ts'

/**
 * Triggers of different skills that fire on one prompt, so that one prompt loads both. Found by
 * trying a short line that the one matches on the other: what is reported is true, and not
 * everything is found.
 */
export function checkOverlap(skills: readonly TriggerSkill[]): Diagnostic[] {
  const tried = skills.flatMap((skill) =>
    skill.triggers.flatMap((trigger) => {
      const reading = compilePattern(trigger.match)
      const sample = reading.ok ? sampleLine(trigger.match) : undefined
      if (!reading.ok || sample === undefined || sample.trim() === '') return []
      const lines = promptLines(sample)
      return firstMatch(reading.pattern, lines) === undefined
        ? []
        : [{ skill, trigger, pattern: reading.pattern, sample, lines }]
    }),
  )
  return tried.flatMap((one) =>
    tried.flatMap((other): Diagnostic[] => {
      if (one.skill === other.skill || firstMatch(other.pattern, one.lines) === undefined) return []
      // Both ways round is one finding.
      const mutual = firstMatch(one.pattern, other.lines) !== undefined
      if (mutual && tried.indexOf(one) > tried.indexOf(other)) return []
      return [
        {
          code: 'trigger-overlap',
          severity: 'info',
          message: `The prompt \`${one.sample}\` fires \`${one.trigger.match}\` and also \`${other.trigger.match}\` of ${other.skill.name}.`,
          path: one.skill.path,
          line: one.trigger.line,
          hint: 'Begin each pattern with the name of its skill, such as `^/name `.',
        },
      ]
    }),
  )
}

/** A short line that a pattern matches, if one can be made from its parts; undefined otherwise. */
function sampleLine(source: string): string | undefined {
  const { tree } = parsePattern(source)
  if (tree === undefined) return undefined
  const sample = sampleOf(tree)
  return sample.length > 4000 ? undefined : sample
}

function sampleOf(node: PatternNode): string {
  switch (node.kind) {
    case 'literal':
      return node.text
    case 'any':
      return 'x'
    case 'class': {
      const reading = compilePattern(`^${node.source}$`)
      return visible.find((sign) => reading.ok && reading.pattern.test(sign)) ?? ''
    }
    case 'concat':
      return node.items.map(sampleOf).join('')
    case 'alternate':
      return node.items[0] === undefined ? '' : sampleOf(node.items[0])
    case 'repeat':
      return sampleOf(node.child).repeat(Math.min(node.min, 1000))
    case 'empty':
    case 'start':
    case 'end':
    case 'boundary':
      return ''
  }
}

const visible = [
  'x',
  ...Array.from({ length: 95 }, (_, code) => String.fromCharCode(32 + code)),
  'é',
]
