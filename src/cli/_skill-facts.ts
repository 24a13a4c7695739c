import { safeLine } from '../base/index.ts'
import type { SkillInfo } from '../library/index.ts'
import { type ChainDeclaration, formatAllowedTools } from '../skill/index.ts'
import { count } from '../base/text.ts'

/** One line of `show`: a label and what is said about it. */
export type SkillFact = readonly [label: string, value: string]

/** Everything known about a skill besides its description and its files; only what is there. */
export function skillFacts(info: SkillInfo, trust: { level: string; reason: string }): SkillFact[] {
  const { fields, tokens, shadows } = info
  const facts: (readonly [string, string | undefined])[] = [
    ['path', info.path],
    ['real path', info.realDirectory === info.directory ? undefined : info.realDirectory],
    ['scope', `${info.scope} (${info.source})`],
    ['trust', `${trust.level}: ${trust.reason}`],
    ['tokens', `${count(tokens.metadata)} for the catalogue, ${count(tokens.body)} when activated`],
    ['hides', shadows.length > 0 ? shadows.join(', ') : undefined],
    ['license', fields.license],
    ['compatibility', fields.compatibility],
    ['allowed-tools', fields.allowedTools && formatAllowedTools(fields.allowedTools)],
    ['invoked by', invokers(info)],
    ['arguments', argumentLine(info)],
    ['model', fields.model],
    ['context', fields.context],
    ['agent', fields.agent],
    ['run', fields.run],
    ['hooks', fields.hooks === undefined ? undefined : JSON.stringify(fields.hooks)],
    ...chainFacts(fields.chain),
    ...fields.triggers.map(({ match, inject }): SkillFact => ['trigger', `${match} → ${inject}`]),
    ...Object.entries(fields.metadata)
      .filter(([key]) => key !== 'chain' && key !== 'gates')
      .map(([key, value]): SkillFact => ['metadata', `${key}: ${value}`]),
  ]
  return facts.flatMap(([label, value]): SkillFact[] =>
    value === undefined || value === '' ? [] : [[label, safeLine(value)]],
  )
}

function invokers({ fields }: SkillInfo): string {
  if (fields.disableModelInvocation && !fields.userInvocable) return 'a program only'
  if (fields.disableModelInvocation) return 'people, not the model'
  return fields.userInvocable ? 'people and the model' : 'the model, not people'
}

function argumentLine({ fields }: SkillInfo): string | undefined {
  const names = fields.arguments.map((name) => `$${name}`).join(' ')
  return [names, fields.argumentHint].filter(Boolean).join('  ') || undefined
}

function chainFacts(chain: ChainDeclaration | undefined): SkillFact[] {
  if (chain === undefined) return []
  const steps = chain.steps.map(({ name }) => name)
  const gates = chain.gates.join(', ')
  return [
    ['chain', steps.join(chain.policy.async ? ' and ' : ' → ') || 'no steps'],
    ...(gates === '' ? [] : [['gates', `waits for a person before ${gates}`] as const]),
  ]
}
