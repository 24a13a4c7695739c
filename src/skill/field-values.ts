import type { Diagnostic } from '#core/errors'
import { didYouMean } from '#core/text'
import type { YamlNode } from './read-yaml.ts'
import { finding, type Position, type RuleCode } from './rules.ts'

/** Reads fields: an absent or invalid value is undefined, and an invalid one gets a diagnostic. */
export class FieldReader {
  readonly #path: string
  readonly #diagnostics: Diagnostic[]

  constructor(path: string, diagnostics: Diagnostic[]) {
    this.#path = path
    this.#diagnostics = diagnostics
  }

  report(code: RuleCode, at: Position | undefined, message: string, hint?: string): undefined {
    this.#diagnostics.push(finding(code, this.#path, at, message, hint || undefined))
  }

  /**
   * Returns the text of a scalar. An empty plain value or `null` is undefined, `null` in quotes is
   * text.
   */
  text(field: string, node: YamlNode | undefined): string | undefined {
    if (!node || isNull(node)) return undefined
    if (node.kind === 'scalar') return node.text.trim() || undefined
    const message = `\`${field}\` is ${describe(node)}, and a text is required.`
    return this.report('field-type', node, message)
  }

  /** Reads `true`, `false`, and the words that mean the same to YAML 1.1 and Claude Code. */
  boolean(field: string, node: YamlNode | undefined): boolean | undefined {
    if (!node || isNull(node)) return undefined
    const word = node.kind === 'scalar' ? node.text.trim().toLowerCase() : ''
    if (['true', 'yes', 'on', '1'].includes(word)) return true
    if (['false', 'no', 'off', '0'].includes(word)) return false
    const message = `\`${field}\` is ${describeValue(node)}; it must be true or false.`
    return this.report('field-type', node, message)
  }

  integer(field: string, node: YamlNode | undefined, minimum: number): number | undefined {
    if (!node || isNull(node)) return undefined
    const text = node.kind === 'scalar' ? node.text.trim() : ''
    const isNumber = node.kind === 'scalar' && typeof node.value === 'number'
    const isDigits = /^[+-]?\d+$/.test(text)
    const number = isNumber ? Number(node.value) : Number(isDigits ? text : Number.NaN)
    if (Number.isSafeInteger(number) && number >= minimum) return number
    const code = isDigits || Number.isSafeInteger(number) ? 'field-value' : 'field-type'
    const requirement = `a whole number of at least ${minimum}`
    return this.report(
      code,
      node,
      `\`${field}\` is ${describeValue(node)}; it must be ${requirement}.`,
    )
  }

  choice<Word extends string>(
    field: string,
    node: YamlNode | undefined,
    choices: readonly Word[],
  ): Word | undefined {
    const text = this.text(field, node)
    const word = choices.find((choice) => choice === text)
    if (word !== undefined || text === undefined || !node) return word
    const choiceList = choices.map((choice) => `\`${choice}\``).join(', ')
    const message = `\`${field}\` is \`${text}\`; it must be ${choiceList}.`
    return this.report('field-value', node, message, didYouMean(text, choices))
  }

  /** Reads words from a list, or from one string separated by spaces or commas. */
  words(field: string, node: YamlNode | undefined): readonly Word[] | undefined {
    if (!node || isNull(node)) return []
    if (node.kind === 'scalar') {
      const words = node.text.split(/[\s,]+/).filter((word) => word !== '')
      return words.map((text) => ({ text, node }))
    }
    if (node.kind === 'map') {
      const message = `\`${field}\` is a map, and a list of names is required.`
      return this.report('field-type', node, message)
    }
    const words = node.items.flatMap((item): Word[] => {
      const text = item.kind === 'scalar' ? item.text.trim() : ''
      if (text !== '') return [{ text, node: item }]
      const form = item.kind === 'scalar' ? 'empty' : describe(item)
      this.report('field-type', item, `An entry of \`${field}\` is ${form}; it must be a name.`)
      return []
    })
    return words.length === node.items.length ? words : undefined
  }

  /** Reads a path below the skill's directory; the path is not resolved on the disk. */
  path(field: string, node: YamlNode | undefined): string | undefined {
    const text = this.text(field, node)
    if (text === undefined || !node || staysInside(text)) return text
    const message = `\`${field}\` is \`${text}\`, which is not a relative path inside the skill.`
    return this.report('path-outside', node, message)
  }
}

type Word = { text: string; node: YamlNode }

/** Whether the text of a relative path never leaves its directory. */
export function staysInside(path: string): boolean {
  if (path === '' || /^\/|[\\\0]|^[a-z]:/i.test(path)) return false
  return !path.split('/').includes('..')
}

export function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.style === 'plain' && node.value === null
}

export function describe(node: YamlNode): string {
  if (node.kind === 'map') return 'a map'
  return node.kind === 'list' ? 'a list' : 'a text'
}

function describeValue(node: YamlNode): string {
  return node.kind === 'scalar' ? `\`${node.text.trim()}\`` : describe(node)
}
