import type { AllowedTool } from './model.ts'
import type { YamlNode } from './read-yaml.ts'

/**
 * Parses `allowed-tools` in every form that is in use: one string separated by spaces or commas, or a list
 * of such strings. Separators inside parentheses belong to the pattern: `Bash(git add:*, git rm:*)` is one
 * tool. `mcp__server__tool`, `Server/tool` and `Server:tool` are names like any other.
 *
 * If a parenthesis is never closed, the rest is the pattern; `validate` reports that.
 */
export function parseAllowedTools(value: YamlNode | string): AllowedTool[] {
  return texts(value).flatMap((text) => splitTools(text).tools)
}

/** Returns the specification's form: one string, separated by spaces. */
export function formatAllowedTools(tools: readonly AllowedTool[]): string {
  return tools
    .map(({ tool, pattern }) => (pattern === undefined ? tool : `${tool}(${pattern})`))
    .join(' ')
}

export function isBalanced(value: YamlNode | string): boolean {
  return texts(value).every((text) => splitTools(text).balanced)
}

export function hasCommas(text: string): boolean {
  return splitTools(text).commas
}

function texts(value: YamlNode | string): string[] {
  if (typeof value === 'string') return [value]
  if (value.kind === 'scalar') return value.value === null ? [] : [value.text]
  if (value.kind === 'list') return value.items.flatMap((item) => texts(item))
  return []
}

function splitTools(text: string) {
  const tools: AllowedTool[] = []
  let depth = 0
  let word = ''
  let isBalanced = true
  let commas = false
  const finish = () => {
    if (word !== '') tools.push(readTool(word))
    word = ''
  }
  for (const character of text) {
    if (character === '(') depth++
    if (character === ')' && --depth < 0) {
      depth = 0
      isBalanced = false
    }
    if (depth === 0 && character === ',') commas = true
    if (depth === 0 && (character === ',' || /\s/.test(character))) finish()
    else word += character
  }
  finish()
  return { tools, balanced: isBalanced && depth === 0, commas }
}

function readTool(word: string): AllowedTool {
  const open = word.indexOf('(')
  if (open <= 0) return { tool: word }
  const close = word.endsWith(')') ? word.length - 1 : word.length
  return { tool: word.slice(0, open), pattern: word.slice(open + 1, close).trim() }
}
