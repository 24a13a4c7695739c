import { readingVerbs } from '../contract.ts'
import type { ToolDefinition } from '../model.ts'

/** Words that make a name such as `get_or_create_user` or `find_and_replace` one that writes. */
const writingWords: ReadonlySet<string> = new Set(
  (
    'add append apply clear create delete drop edit execute insert kill mark merge move overwrite ' +
    'patch post publish purge push put remove rename replace reset run save send set start stop ' +
    'submit trigger update upload upsert write'
  ).split(' '),
)

/**
 * Whether a call of the tool only reads: a trusted server's hint decides; without one, the verb that
 * its name begins with. A word that writes, or the hint of
 * a server that is not trusted, can only make it stricter.
 * https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
export function readsOnly(
  tool: Pick<ToolDefinition, 'name' | 'annotations'>,
  trusted: boolean,
): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {}
  if (readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true)) return false
  if (readOnlyHint === true && trusted) return true
  const [verb = '', ...others] = wordsOfName(tool.name)
  return readingVerbs.has(verb) && !others.some((word) => writingWords.has(word))
}

/** The words of the last `__` segment: `get` and `user` of `MetaMCP__getUser`. */
function wordsOfName(name: string): string[] {
  const segment = name.slice(name.lastIndexOf('__') + 1)
  return segment
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
