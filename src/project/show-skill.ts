import { count, safeLine } from '#core/text'
import { formatAllowedTools } from '#skill/allowed-tools'
import type { ChainDeclaration, SkillFile } from '#skill/model'
import { chainText, gateTexts } from '#chain/plan-model'
import { currentTrust, type DiscoverOptions } from '#library/discover'
import { loadSkill } from '#library/find-skill'
import type { SkillInfo } from '#library/model'

/** All that is known about one skill. */
export interface ShownSkill extends Omit<SkillInfo, 'trustLevel' | 'size' | 'mtimeMs'> {
  trust: SkillInfo['trustLevel']
  trustReason: string
  digest: string
  resources: readonly SkillFile[]
  /** Whether the skill has more files than `resources`. */
  resourcesTruncated: boolean
}

/** Returns all that is known about a skill, with its trust as of now. */
export function showSkill(known: SkillInfo, options: DiscoverOptions): ShownSkill {
  const { info, digest, resources } = loadSkill(known)
  const { level: trust, reason: trustReason } = currentTrust(info, options)
  const { trustLevel: _trustLevel, size: _size, mtimeMs: _mtimeMs, ...facts } = info
  const fields = { ...info.fields, metadata: { ...info.fields.metadata } }
  const { files, truncated: resourcesTruncated } = resources
  return { ...facts, trust, trustReason, digest, fields, resources: files, resourcesTruncated }
}

export type SkillFact = readonly [label: string, value: string]

/** Everything known about a skill besides its description and its files; only what is there. */
export function skillFacts(skill: ShownSkill): SkillFact[] {
  const { fields, tokens, shadows } = skill
  const facts: (readonly [string, string | undefined])[] = [
    ['path', skill.path],
    ['real path', skill.realDirectory === skill.directory ? undefined : skill.realDirectory],
    ['linked from', skill.linkedFrom.map(({ path }) => path).join(', ')],
    ['scope', `${skill.scope} (${skill.source})`],
    ['trust', `${skill.trust}: ${skill.trustReason}`],
    ['tokens', `${count(tokens.metadata)} for the catalogue, ${count(tokens.body)} when activated`],
    ['hides', shadows.length > 0 ? shadows.join(', ') : undefined],
    ['license', fields.license],
    ['compatibility', fields.compatibility],
    ['allowed-tools', fields.allowedTools && formatAllowedTools(fields.allowedTools)],
    ['invoked by', invokers(skill)],
    ['arguments', argumentLine(skill)],
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

function invokers({ fields }: ShownSkill): string {
  if (fields.disableModelInvocation && !fields.userInvocable) return 'a program only'
  if (fields.disableModelInvocation) return 'people, not the model'
  return fields.userInvocable ? 'people and the model' : 'the model, not people'
}

function argumentLine({ fields }: ShownSkill): string | undefined {
  const names = fields.arguments.map((name) => `$${name}`).join(' ')
  return [names, fields.argumentHint].filter(Boolean).join('  ') || undefined
}

function chainFacts(chain: ChainDeclaration | undefined): SkillFact[] {
  if (!chain) return []
  const gates = gateTexts(chain).join(', ')
  return [
    ['chain', chainText(chain)],
    ...(gates === '' ? [] : [['gates', `waits for a user before ${gates}`] as const]),
  ]
}
