import { besideChain, defaultChainPolicy, policyKeys } from './_field-chain.ts'
import { doubleQuoted, quoteText } from './_quote.ts'
import { formatAllowedTools } from './allowed-tools.ts'
import { metadataFields } from './field-table.ts'
import type { ChainDeclaration, SkillFields, TriggerDeclaration } from './model.ts'

/** What a `SKILL.md` is written from: the fields that are known, and the body. */
export interface SkillSource {
  fields: Partial<SkillFields> & Pick<SkillFields, 'name' | 'description'>
  body: string
}

/**
 * The text of a `SKILL.md`. Reading it gives the same fields and the same body, trimmed; defaults
 * are not written. To change a file that a person wrote, use `editFrontmatter`, which keeps comments.
 */
export function serializeSkill({ fields, body }: SkillSource): string {
  const lines = [
    ...line('name', fields.name),
    ...line('description', fields.description),
    ...line('license', fields.license),
    ...line('compatibility', fields.compatibility),
    ...line('allowed-tools', toolsText(fields)),
    ...triggerLines(fields.triggers ?? []),
    ...line('run', fields.run),
    ...(fields.sandbox === true ? ['sandbox: true'] : []),
    ...line('model', fields.model),
    ...line('context', fields.context),
    ...line('agent', fields.agent),
    ...(fields.disableModelInvocation === true ? ['disable-model-invocation: true'] : []),
    ...(fields.userInvocable === false ? ['user-invocable: false'] : []),
    ...line('argument-hint', fields.argumentHint),
    ...line('arguments', fields.arguments?.length ? fields.arguments.join(' ') : undefined),
    ...line('hooks', fields.hooks === undefined ? undefined : JSON.stringify(fields.hooks)),
    ...metadataLines(fields),
  ]
  const text = body.trim()
  return `---\n${lines.join('\n')}\n---\n${text === '' ? '' : `\n${text}\n`}`
}

function line(name: string, text: string | undefined): string[] {
  return text === undefined ? [] : [`${name}: ${quoteText(text)}`]
}

function toolsText({ allowedTools }: SkillSource['fields']): string | undefined {
  return allowedTools === undefined ? undefined : formatAllowedTools(allowedTools)
}

function triggerLines(triggers: readonly TriggerDeclaration[]): string[] {
  if (triggers.length === 0) return []
  const entries = triggers.flatMap(({ match, inject }) => [
    `  - match: ${doubleQuoted(match)}`,
    `    inject: ${quoteText(inject)}`,
  ])
  return ['triggers:', ...entries]
}

/** The author's own entries, then the chain with what differs from the defaults. */
function metadataLines({ metadata = {}, chain }: SkillSource['fields']): string[] {
  const own = Object.entries(metadata).filter(
    ([key]) => !metadataFields.has(key) || (chain === undefined && besideChain.has(key)),
  )
  const lines = [
    ...own.map(([key, text]) => `  ${quoteText(key)}: ${quoteText(text)}`),
    ...(chain === undefined ? [] : chainLines(chain)),
  ]
  return lines.length === 0 ? [] : ['metadata:', ...lines]
}

function chainLines({ steps, policy, gates }: ChainDeclaration): string[] {
  const names = steps.map((step) => step.name)
  const differing = Object.entries(policy).flatMap(([field, value]) =>
    isPolicyField(field) && defaultChainPolicy[field] !== value
      ? [`  ${policyKeys[field]}: ${quoteText(String(value))}`]
      : [],
  )
  return [
    ...wordLines('chain', names),
    ...differing,
    ...(gates.length === 0 ? [] : wordLines('gates', gates)),
  ]
}

function isPolicyField(field: string): field is keyof typeof policyKeys {
  return Object.hasOwn(policyKeys, field)
}

/** Words on one line, as the specification has it; as a list where a word has a separator in it. */
function wordLines(name: string, words: readonly string[]): string[] {
  if (!words.some((word) => /[\s,]/.test(word))) return [`  ${name}: ${quoteText(words.join(' '))}`]
  return [`  ${name}:`, ...words.map((word) => `    - ${doubleQuoted(word)}`)]
}
