import type { Diagnostic } from '../base/index.ts'
import { readYaml, splitFrontmatter, type TriggerDeclaration } from '../skill/index.ts'
import type { TriggerCheck } from '../trigger/index.ts'

type CheckedTrigger = TriggerCheck['triggers'][number]

/**
 * Entries of `triggers` that the reader left out because they are no usable trigger, with what it
 * found about them.
 *
 * @param diagnostics of reading the same text.
 */
export function leftOutTriggers(
  text: string,
  path: string,
  triggers: readonly TriggerDeclaration[],
  diagnostics: readonly Diagnostic[],
): CheckedTrigger[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const entries = writtenEntries(text, path)
  return entries.flatMap(({ match, inject, line }, index): CheckedTrigger[] => {
    const isRead = triggers.some(
      (trigger) => trigger.line === line && trigger.match === match && trigger.inject === inject,
    )
    if (isRead) return []
    const end = entries[index + 1]?.line ?? Infinity
    const problems = errors
      .filter((error) => error.line !== undefined && error.line >= line)
      .filter((error) => error.line === line || Number(error.line) < end)
      .map(({ message }) => message)
    return [{ match, inject, line, problems: problems.length > 0 ? problems : [noTrigger] }]
  })
}

const noTrigger = 'A trigger has one `match` and one `inject`, each a text.'

function writtenEntries(text: string, path: string): TriggerDeclaration[] {
  const split = splitFrontmatter(text)
  if (!split.found) return []
  const { root } = readYaml(split.source, { firstLine: split.firstLine, path })
  if (root?.kind !== 'map') return []
  const node = root.entries.find(({ key }) => key.text === 'triggers')?.value
  if (node?.kind === 'list') {
    return node.items.map((item) => {
      const part = (name: string): string => {
        const entries = item.kind === 'map' ? item.entries : []
        const value = entries.find(({ key }) => key.text === name)?.value
        return value?.kind === 'scalar' && value.text !== '' ? value.text : '(none)'
      }
      return { match: part('match'), inject: part('inject'), line: item.line }
    })
  }
  if (node?.kind !== 'scalar' || node.value === null) return []
  return node.text.split('\n').flatMap((written, index) => {
    if (written.trim() === '') return []
    const separator = written.lastIndexOf(' => ')
    const line = node.style === 'literal' ? node.line + 1 + index : node.line
    const match = (separator < 0 ? written : written.slice(0, separator)).trim()
    const inject = separator < 0 ? '(none)' : written.slice(separator + 4).trim()
    return [{ match, inject, line }]
  })
}
