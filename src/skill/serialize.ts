import { formatAllowedTools } from './allowed-tools.ts'
import { besideChain, defaultChainPolicy, policyKey } from './declarations.ts'
import { metadataFields } from './field-table.ts'
import type { ChainDeclaration, ChainStep, SkillFields, TriggerDeclaration } from './model.ts'

export interface SkillSource {
  fields: Partial<SkillFields> & Pick<SkillFields, 'name' | 'description'>
  body: string
}

/**
 * Returns the text of a `SKILL.md`, without defaults. Reading it returns the same fields and body.
 */
export function serializeSkill({ fields, body }: SkillSource): string {
  const { name, description, license, compatibility, allowedTools, triggers = [] } = fields
  const { run, sandbox, model, context, agent, userInvocable, hooks } = fields
  const names = fields.arguments?.join(' ') || undefined
  const lines = [
    ...linesOf({ name, description, license, compatibility }),
    ...linesOf({ 'allowed-tools': allowedTools && formatAllowedTools(allowedTools) }),
    ...(triggers.length === 0 ? [] : ['triggers:']),
    ...triggers.flatMap(triggerLines),
    ...linesOf({ run, sandbox, model, context, agent }),
    ...linesOf({
      'disable-model-invocation': fields.disableModelInvocation || undefined,
      'user-invocable': userInvocable === false ? false : undefined,
      'argument-hint': fields.argumentHint,
      arguments: names,
      hooks: hooks === undefined ? undefined : JSON.stringify(hooks),
    }),
    ...metadataLines(fields),
  ]
  const text = body.trim()
  return `---\n${lines.join('\n')}\n---\n${text === '' ? '' : `\n${text}\n`}`
}

function linesOf(values: Readonly<Record<string, string | boolean | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${scalarOf(value)}`],
  )
}

function scalarOf(value: unknown): string {
  return typeof value === 'string' ? quoteText(value) : jsonScalar(value)
}

function triggerLines({ match, inject, when }: TriggerDeclaration): string[] {
  const { kind, ...occasion } = when ?? { kind: 'match', match }
  const lines = Object.entries({ ...occasion, inject }).map(([name, value]) => {
    return `${name === 'pattern' ? kind : name}: ${scalarOf(value)}`
  })
  return lines.map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`)
}

/** Returns the author's entries, then the parts of the chain that differ from the defaults. */
function metadataLines({ metadata = {}, chain }: SkillSource['fields']): string[] {
  const authorEntries = Object.entries(metadata).filter(
    ([key]) => !metadataFields.has(key) || (chain === undefined && besideChain.has(key)),
  )
  const lines = [
    ...authorEntries.map(([key, text]) => `  ${quoteText(key)}: ${quoteText(text)}`),
    ...(chain ? chainLines(chain) : []),
  ]
  return lines.length === 0 ? [] : ['metadata:', ...lines]
}

function chainLines({ steps, policy, gates }: ChainDeclaration): string[] {
  const defaults: Readonly<Record<string, unknown>> = { ...defaultChainPolicy }
  const differing = Object.entries(policy).flatMap(([field, value]) =>
    defaults[field] === value ? [] : [`  ${policyKey(field)}: ${quoteText(String(value))}`],
  )
  return [
    ...stepLines(steps),
    ...differing,
    ...(gates.length === 0 ? [] : wordLines('gates', gates)),
  ]
}

/** Uses the proposal's form if no step has an option, else one line per step or group. */
function stepLines(steps: ChainDeclaration['steps']): string[] {
  const names = steps.map(({ name }) => name)
  const isPlain = steps.every(
    ({ name, args = '' }) => !/[\s,&"#=]/.test(name) && !control.test(args),
  )
  if (!isPlain) {
    const entry = (step: ChainStep) =>
      `    - ${jsonScalar(step.name)}: ${jsonScalar(Object.fromEntries(optionsOf(step)))}`
    return ['  chain:', ...steps.map(entry)]
  }
  if (steps.every((step) => Object.keys(step).length === 2)) return wordLines('chain', names)
  const texts = steps.map((step, index) => {
    const isJoined = step.group !== undefined && step.group === steps[index - 1]?.group
    return `${isJoined ? ' & ' : '\n    '}${[step.name, ...optionsOf(step).map(optionText)].join(' ')}`
  })
  return [`  chain: |${texts.join('')}`]
}

function optionsOf(step: ChainStep): [name: string, value: string | number | true][] {
  const { name: _name, line: _line, group: _group, allowFailure, ...options } = step
  const failureOption = allowFailure === undefined ? {} : { 'allow-failure': allowFailure }
  return Object.entries({ ...options, ...failureOption })
}

function optionText([name, value]: ReturnType<typeof optionsOf>[number]): string {
  if (value === true) return name
  const text = String(value)
  return `${name}=${/^[^\s&"]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`}`
}

/**
 * Writes words on one line, as the specification does, or as a list if a word contains a separator.
 */
function wordLines(name: string, words: readonly string[]): string[] {
  if (!words.some((word) => /[\s,]/.test(word))) return [`  ${name}: ${quoteText(words.join(' '))}`]
  return [`  ${name}:`, ...words.map((word) => `    - ${jsonScalar(word)}`)]
}

export function newSkillText(name: string, description?: string): string {
  const title = name.replaceAll('-', ' ').replace(/^./u, (letter) => letter.toUpperCase())
  const text =
    description?.trim().replace(/\s+/g, ' ') ??
    `Describes in one sentence what "${title}" produces and from which input. Use when the user asks for it, and name the words the user would say.`
  return `---
name: ${quoteText(name)}
description: ${quoteText(text)}
---

# ${title}

Replace this text with the instructions an agent follows once the skill is active.

## Steps

1. Say what to look at first, and where it is.
2. Say what to do with it, one step a line.
3. Say how to check the result before reporting it.

## Example

Input: what a user might ask for.

Output: what the agent should hand back.

## When something is wrong

Say what to do when the input is missing, unreadable or ambiguous.
`
}

/**
 * Returns a YAML scalar on one line: plain if every reader reads it as the text, else in quotes.
 */
export function quoteText(text: string): string {
  const isPlain =
    /^[A-Za-z\u00c0-\uffff/(](?:[^\n\r\t]*[^\s:])?$/.test(text) &&
    !/: |\s#|[\p{Cc}\p{Cs}\p{Cn}\u2028\u2029\ufeff]/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  return isPlain ? text : jsonScalar(text)
}

const control = /[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/u

export function jsonScalar(value: unknown): string {
  return JSON.stringify(value).replace(
    new RegExp(control, 'gu'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
