import { describe, type FieldReader, isNull, staysInside } from './field-values.ts'
import { didYouMean } from '#core/text'
import type { TriggerDeclaration } from './model.ts'
import { valuesOf, type YamlMap, type YamlNode, type YamlScalar } from './read-yaml.ts'

/** Reads triggers from a list of maps, or from lines of `PATTERN => FILE`. */
export function readTriggers(
  reader: FieldReader,
  node: YamlNode | undefined,
): TriggerDeclaration[] {
  if (!node || isNull(node)) return []
  if (node.kind === 'scalar') return readLines(reader, node)
  if (node.kind === 'list') return node.items.flatMap((item) => readEntry(reader, item) ?? [])
  reader.report('field-type', node, '`triggers` is a map, and a list is required.')
  return []
}

const triggerKinds = ['match', 'examples', 'paths', 'command', 'tool'] as const
const triggerKeys = [...triggerKinds, 'inject', 'on', 'require', 'not'] as const

/** The kinds of triggers that an option belongs to. */
const kindsWith: ReadonlyMap<string, readonly string[]> = new Map([
  ['on', ['paths']],
  ['not', ['examples']],
  ['require', ['paths', 'command', 'tool']],
])

function readEntry(reader: FieldReader, item: YamlNode): TriggerDeclaration | undefined {
  if (item.kind !== 'map') {
    const hint = 'Write `- match: PATTERN` and below it `inject: FILE`.'
    return reader.report('trigger-form', item, `A trigger is ${describe(item)}, not a map.`, hint)
  }
  const values = valuesOf(item)
  for (const { key } of item.entries) {
    if (triggerKeys.some((triggerKey) => triggerKey === key.text)) continue
    const message = `A trigger has no key \`${key.text}\`.`
    reader.report('trigger-unknown-key', key, message, didYouMean(key.text, triggerKeys))
  }
  for (const { key } of item.entries) {
    const kinds = kindsWith.get(key.text)
    if (!kinds || kinds.some((kind) => values.has(kind))) continue
    const message = `\`${key.text}\` has no effect in this trigger.`
    const hint = `It belongs to a trigger with \`${kinds.join('` or `')}\`.`
    reader.report('trigger-unknown-key', key, message, hint)
  }
  const [kind = 'match', ...more] = triggerKinds.filter((name) => values.has(name))
  if (more.length > 0) {
    const message = `A trigger has \`${[kind, ...more].join('`, `')}\`; one of them is allowed.`
    return reader.report('trigger-form', item, message)
  }
  const inject = readPart(reader, item, values, 'inject')
  const at = { inject: inject ?? '', line: item.line }
  const declaration = readOccasion(reader, item, values, kind, at)
  return inject === undefined || !declaration ? undefined : checkPath(reader, item, declaration)
}

function readOccasion(
  reader: FieldReader,
  item: YamlMap,
  values: ReadonlyMap<string, YamlNode>,
  kind: (typeof triggerKinds)[number],
  at: { inject: string; line: number },
): TriggerDeclaration | undefined {
  const node = values.get(kind)
  const require = reader.boolean('require', values.get('require'))
  const on = reader.choice('on', values.get('on'), ['edit', 'read'])
  const not = textsOf(reader, 'not', values.get('not'))
  if (kind === 'examples' || kind === 'paths') {
    const texts = textsOf(reader, kind, node)
    if (texts.length > 0) return triggerOf(kind, texts, at, { on, require, not })
    return reader.report('trigger-form', node ?? item, `The \`${kind}\` of a trigger is empty.`)
  }
  const pattern = readPart(reader, item, values, kind)
  return pattern === undefined ? undefined : triggerOf(kind, [pattern], at, { require })
}

function textsOf(reader: FieldReader, name: string, node: YamlNode | undefined): string[] {
  const nodes = node?.kind === 'list' ? node.items : node && !isNull(node) ? [node] : []
  return nodes.flatMap((one) => reader.text(name, one) ?? [])
}

interface TriggerMore {
  on?: 'edit' | 'read' | undefined
  require?: boolean | undefined
  not?: readonly string[] | undefined
}

function triggerOf(
  kind: (typeof triggerKinds)[number],
  texts: readonly string[],
  at: { inject: string; line: number },
  { on = 'edit', require, not = [] }: TriggerMore,
): TriggerDeclaration {
  const [pattern = ''] = texts
  if (kind === 'match') return { match: pattern, ...at }
  if (kind === 'examples') {
    const match = `examples: ${[texts.join(' | '), ...(not.length > 0 ? [not.join(' | ')] : [])].join(' !not ')}`
    const when = { kind, examples: texts, ...(not.length > 0 ? { not } : {}) }
    return { match, ...at, when }
  }
  if (kind === 'command' || kind === 'tool') {
    const when = { kind, pattern, require: require ?? true }
    return { match: `${kind}: ${pattern}`, ...at, when }
  }
  const when = { kind, paths: texts, on, require: require ?? false }
  return { match: `paths[${on}]: ${texts.join(', ')}`, ...at, when }
}

function readPart(
  reader: FieldReader,
  item: YamlMap,
  values: ReadonlyMap<string, YamlNode>,
  name: string,
): string | undefined {
  const value = values.get(name)
  if (!value) {
    return reader.report('trigger-form', item, `A trigger has no \`${name}\`.`)
  }
  if (value.kind !== 'scalar') return reader.text(name, value)
  // Blanks at the ends of a quoted pattern are part of it.
  if (value.text !== '') return value.text
  return reader.report('trigger-form', value, `The \`${name}\` of a trigger is empty.`)
}

function readLines(reader: FieldReader, node: YamlScalar): TriggerDeclaration[] {
  const isLiteral = node.style === 'literal'
  return node.text.split('\n').flatMap((text, index) => {
    if (text.trim() === '') return []
    // The text of a literal block begins on the line after its `|`; other styles fold lines.
    const line = isLiteral ? node.line + 1 + index : node.line
    const at = { ...node, line }
    const trigger = readTriggerLine(text, line)
    if (trigger) return checkPath(reader, at, trigger) ?? []
    const hint = 'Write `PATTERN => FILE`, one trigger a line.'
    reader.report('trigger-form', at, `\`${text.trim()}\` is not a trigger.`, hint)
    return []
  })
}

/** Reads `PATTERN => FILE` and the string forms of the other kinds; undefined for anything else. */
function readTriggerLine(text: string, line: number): TriggerDeclaration | undefined {
  const separator = text.lastIndexOf(' => ')
  const match = text.slice(0, Math.max(separator, 0)).trim()
  const [, inject = '', requireOption] =
    /^(.*?)( !require)?$/.exec(text.slice(separator + 4).trim()) ?? []
  if (separator < 0 || match === '' || inject === '') return undefined
  const [, kind, on, body = ''] =
    /^(examples|command|tool|paths(?:\[(edit|read)\])?):(.+)$/.exec(match) ?? []
  const require = requireOption === undefined ? undefined : true
  const at = { inject, line }
  if (kind === undefined) return triggerOf('match', [match], at, {})
  if (kind === 'examples') {
    const [positive = '', ...negative] = body.split(' !not ')
    return triggerOf(kind, listOf(positive, '|'), at, { not: listOf(negative.join('|'), '|') })
  }
  if (kind === 'command' || kind === 'tool') {
    return triggerOf(kind, [body.trim()], at, { require })
  }
  const paths = body
    .replaceAll(/\{[^{}]*\}/g, (group) => group.replaceAll(',', '\0'))
    .split(',')
    .flatMap((path) => path.trim().replaceAll('\0', ',') || [])
  return triggerOf('paths', paths, at, { on: on === 'read' ? on : 'edit', require })
}

function listOf(text: string, separator: string): string[] {
  return text.split(separator).flatMap((part) => part.trim() || [])
}

function checkPath(reader: FieldReader, at: YamlNode, trigger: TriggerDeclaration) {
  if (staysInside(trigger.inject)) return trigger
  const message = `A trigger injects \`${trigger.inject}\`, which is not a relative path inside the skill.`
  return reader.report('path-outside', at, message)
}
