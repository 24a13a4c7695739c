import type { CST } from 'yaml'
import type { Diagnostic } from '../../base/index.ts'
import { formatFinding } from '../_format-finding.ts'
import type { FormatRule } from '../_rules-format.ts'
import { yamlLimits } from '../_yaml-limits.ts'
import type { PositionOf } from './position.ts'

interface Check {
  path: string
  positionOf: PositionOf
  keys: number
  diagnostics: Diagnostic[]
}

export const tooDeep: string = `Lists and mappings lie more than ${yamlLimits.depth} levels inside one another.`

/**
 * Refuses anchors, aliases, tags and whatever is too deep or too long, before anything is built
 * from the tokens: building is recursive and follows aliases.
 */
export function checkTokens(
  tokens: readonly CST.Token[],
  path: string,
  positionOf: PositionOf,
): Diagnostic[] {
  const check: Check = { path, positionOf, keys: 0, diagnostics: [] }
  for (const token of tokens) {
    if (token.type !== 'document') continue
    checkProperties(token.start, check)
    checkToken(token.value, 1, check)
  }
  return check.diagnostics
}

function checkToken(token: CST.Token | null | undefined, depth: number, check: Check): void {
  if (token === null || token === undefined) return
  if (token.type === 'alias') {
    refuse(check, 'yaml-anchor', token, `The alias \`${token.source}\` is not allowed.`)
  }
  if (!('items' in token)) return
  if (depth > yamlLimits.depth) {
    return refuse(check, 'yaml-too-deep', token, tooDeep)
  }
  for (const item of token.items) {
    checkProperties(item.start, check)
    checkProperties(item.sep ?? [], check)
    countKey(item, token, check)
    checkToken(item.key, depth + 1, check)
    checkToken(item.value, depth + 1, check)
  }
}

function countKey(item: { sep?: unknown }, token: CST.Token, check: Check): void {
  if (item.sep === undefined) return
  check.keys++
  if (check.keys !== yamlLimits.keys + 1) return
  const message = `The YAML has more than ${yamlLimits.keys} keys.`
  refuse(check, 'yaml-too-many-keys', token, message)
}

function checkProperties(tokens: readonly CST.SourceToken[], check: Check): void {
  for (const token of tokens) {
    if (token.type === 'anchor') {
      refuse(check, 'yaml-anchor', token, `The anchor \`${token.source}\` is not allowed.`)
    } else if (token.type === 'tag') {
      refuse(check, 'yaml-tag', token, `The tag \`${token.source}\` is not allowed.`)
    }
  }
}

const hints: Partial<Record<FormatRule, string>> = {
  'yaml-anchor': 'Put the value into quotes if it is text, else write it out.',
  'yaml-tag': 'Put the value into quotes if it is text, else leave the tag out.',
}

function refuse(check: Check, code: FormatRule, token: CST.Token, message: string): void {
  const offset = 'offset' in token ? token.offset : 0
  const at = check.positionOf(offset)
  check.diagnostics.push(formatFinding(code, check.path, at, message, hints[code]))
}
