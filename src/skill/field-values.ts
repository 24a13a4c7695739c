import type { Diagnostic } from '../core/diagnostic.ts'
import { nearest } from '../core/text.ts'
import type { FieldDefinition } from './field-table.ts'
import type { YamlNode } from './read-yaml.ts'
import { finding, type RuleCode } from './rules.ts'

/** Where the readers of one file report to. */
export interface FieldContext {
  path: string
  report(code: RuleCode, at: YamlNode, message: string, hint?: string): void
}

/** A context that appends to `diagnostics`. */
export function fieldContext(path: string, diagnostics: Diagnostic[]): FieldContext {
  return {
    path,
    report: (code, at, message, hint) => {
      diagnostics.push(finding(code, path, at, message, hint))
    },
  }
}

/** The text of a scalar. An empty plain value or `null` is undefined, `null` in quotes is a text. */
export function readText(context: FieldContext, field: string, node: YamlNode): string | undefined {
  if (node.kind !== 'scalar') {
    context.report(
      'field-type',
      node,
      `\`${field}\` is ${describe(node)}, and a text is required.`,
      `Write it on one line: \`${field}: …\`.`,
    )
    return undefined
  }
  return isNull(node) ? undefined : node.text.trim()
}

/** `true`, `false`, and the words that YAML 1.1 and Claude Code take for them. */
export function readBoolean(
  context: FieldContext,
  field: string,
  node: YamlNode,
): boolean | undefined {
  if (node.kind === 'scalar') {
    if (isNull(node)) return undefined
    const word = node.text.trim().toLowerCase()
    if (['true', 'yes', 'on', '1'].includes(word)) return true
    if (['false', 'no', 'off', '0'].includes(word)) return false
  }
  const found = node.kind === 'scalar' ? `\`${node.text.trim()}\`` : describe(node)
  context.report('field-type', node, `\`${field}\` is ${found}; it must be true or false.`)
  return undefined
}

/** A whole number, also written as a string. */
export function readInteger(
  context: FieldContext,
  field: string,
  node: YamlNode,
  minimum: number,
): number | undefined {
  if (node.kind === 'scalar' && isNull(node)) return undefined
  const text = node.kind === 'scalar' ? node.text.trim() : ''
  const number = node.kind === 'scalar' ? wholeNumber(text, node.value) : undefined
  if (number === undefined && /^[+-]?\d+$/.test(text)) {
    const range = `from ${minimum} to ${Number.MAX_SAFE_INTEGER}`
    context.report('field-value', node, `\`${field}\` is ${text}; it must be a number ${range}.`)
    return undefined
  }
  if (number === undefined) {
    const found = node.kind === 'scalar' ? `\`${node.text.trim()}\`` : describe(node)
    context.report('field-type', node, `\`${field}\` is ${found}; it must be a whole number.`)
    return undefined
  }
  if (number >= minimum) return number
  context.report('field-value', node, `\`${field}\` is ${number}; the least is ${minimum}.`)
  return undefined
}

/** One of the words that the table allows. */
export function readChoice(
  context: FieldContext,
  definition: FieldDefinition,
  node: YamlNode,
): string | undefined {
  const text = readText(context, definition.name, node)
  if (text === undefined || text === '') return undefined
  const choices = definition.choices ?? []
  if (choices.includes(text)) return text
  const meant = nearest(text, choices)
  context.report(
    'field-value',
    node,
    `\`${definition.name}\` is \`${text}\`; it must be ${choices.map((word) => `\`${word}\``).join(', ')}.`,
    meant === undefined ? undefined : `Did you mean \`${meant}\`?`,
  )
  return undefined
}

/** One word of a list, with the place it stands at. */
interface Word {
  text: string
  node: YamlNode
}

/** Words from a list, or from one string separated by spaces or commas. */
export function readWords(
  context: FieldContext,
  field: string,
  node: YamlNode,
): readonly Word[] | undefined {
  if (node.kind === 'scalar') {
    if (isNull(node)) return []
    const words = node.text.split(/[\s,]+/).filter((word) => word !== '')
    return words.map((text) => ({ text, node }))
  }
  if (node.kind === 'map') {
    context.report('field-type', node, `\`${field}\` is a map, and a list of names is required.`)
    return undefined
  }
  const broken = node.items.filter((item) => item.kind !== 'scalar' || item.text.trim() === '')
  for (const item of broken) {
    const found = item.kind === 'scalar' ? 'empty' : describe(item)
    context.report('field-type', item, `An entry of \`${field}\` is ${found}; it must be a name.`)
  }
  if (broken.length > 0) return undefined
  return node.items.flatMap((item) =>
    item.kind === 'scalar' ? [{ text: item.text.trim(), node: item }] : [],
  )
}

/** A path below the skill's directory, checked by its letters only. */
export function readPath(context: FieldContext, field: string, node: YamlNode): string | undefined {
  const text = readText(context, field, node)
  if (text === undefined || text === '') return undefined
  if (staysInside(text)) return text
  context.report(
    'path-outside',
    node,
    `\`${field}\` is \`${text}\`, which is not a relative path inside the skill.`,
    'Write it from the directory of the skill, with `/` and without `..`.',
  )
  return undefined
}

/** Whether a relative path has only forward steps, by its letters. */
export function staysInside(path: string): boolean {
  if (path === '' || path.startsWith('/') || /[\\\0]/.test(path) || /^[a-z]:/i.test(path))
    return false
  return !path.split('/').includes('..')
}

export function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.style === 'plain' && node.value === null
}

export function describe(node: YamlNode): string {
  if (node.kind === 'map') return 'a map'
  return node.kind === 'list' ? 'a list' : 'a text'
}

function wholeNumber(text: string, value: unknown): number | undefined {
  if (typeof value !== 'number' && !/^[+-]?\d+$/.test(text)) return undefined
  const number = typeof value === 'number' ? value : Number(text)
  return Number.isSafeInteger(number) ? number : undefined
}
