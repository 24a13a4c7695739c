import { nearest } from '../base/index.ts'
import { describe, type FieldContext, isNull, readText, staysInside } from './_field-values.ts'
import type { TriggerDeclaration } from './model.ts'
import type { YamlMap, YamlNode } from './read-yaml.ts'

/**
 * Triggers from a list of `{ match, inject }`, or from the string form: one trigger a line,
 * `PATTERN => FILE`, where the last ` => ` of the line separates. Broken entries are left out.
 */
export function readTriggers(context: FieldContext, node: YamlNode): TriggerDeclaration[] {
  if (node.kind === 'scalar') return isNull(node) ? [] : readLines(context, node)
  if (node.kind === 'map') {
    context.report(
      'field-type',
      node,
      '`triggers` is a map, and a list is wanted.',
      'Begin every trigger with `- match: …`, followed by `inject: …`.',
    )
    return []
  }
  return node.items.flatMap((item) => {
    const trigger = readEntry(context, item)
    return trigger === undefined ? [] : [trigger]
  })
}

function readEntry(context: FieldContext, item: YamlNode): TriggerDeclaration | undefined {
  if (item.kind !== 'map') {
    const hint = 'Write `- match: PATTERN` and below it `inject: FILE`.'
    context.report('trigger-form', item, `A trigger is ${describe(item)}, no map.`, hint)
    return undefined
  }
  warnOfOtherKeys(context, item)
  const match = readPart(context, item, 'match')
  const inject = readPart(context, item, 'inject')
  if (match === undefined || inject === undefined) return undefined
  return checked(context, item, { match, inject, line: item.line })
}

function warnOfOtherKeys(context: FieldContext, item: YamlMap): void {
  for (const { key } of item.entries) {
    if (key.text === 'match' || key.text === 'inject') continue
    const meant = nearest(key.text, ['match', 'inject'])
    const hint = meant === undefined ? undefined : `Did you mean \`${meant}\`?`
    context.report('trigger-unknown-key', key, `A trigger has no key \`${key.text}\`.`, hint)
  }
}

function readPart(context: FieldContext, item: YamlMap, name: string): string | undefined {
  const entry = item.entries.find(({ key }) => key.text === name)
  if (entry === undefined) {
    context.report('trigger-form', item, `A trigger has no \`${name}\`.`)
    return undefined
  }
  // Blanks at the ends of a quoted pattern are part of it.
  if (entry.value.kind === 'scalar' && entry.value.text !== '') return entry.value.text
  const text = readText(context, name, entry.value)
  if (entry.value.kind !== 'scalar') return undefined
  if (text === undefined || text === '') {
    context.report('trigger-form', entry.value, `The \`${name}\` of a trigger is empty.`)
    return undefined
  }
  return text
}

function readLines(
  context: FieldContext,
  node: YamlNode & { kind: 'scalar' },
): TriggerDeclaration[] {
  // The text of a literal block begins on the line after its `|`; of other styles lines are folded.
  const first = node.style === 'literal' ? node.line + 1 : node.line
  return node.text.split('\n').flatMap((written, index) => {
    if (written.trim() === '') return []
    const line = node.style === 'literal' ? first + index : first
    const at = { ...node, line }
    const separator = written.lastIndexOf(' => ')
    const match = written.slice(0, Math.max(separator, 0)).trim()
    const inject = written.slice(separator + 4).trim()
    if (separator < 0 || match === '' || inject === '') {
      const hint = 'Write `PATTERN => FILE`, one trigger a line.'
      context.report('trigger-form', at, `\`${written.trim()}\` is no trigger.`, hint)
      return []
    }
    const trigger = checked(context, at, { match, inject, line })
    return trigger === undefined ? [] : [trigger]
  })
}

function checked(
  context: FieldContext,
  at: YamlNode,
  trigger: TriggerDeclaration,
): TriggerDeclaration | undefined {
  if (staysInside(trigger.inject)) return trigger
  context.report(
    'path-outside',
    at,
    `A trigger injects \`${trigger.inject}\`, which is no relative path inside the skill.`,
    'Only files of the skill itself are injected; write the path from its directory.',
  )
  return undefined
}
