/** A table that a statement names. */
export interface SqlTable {
  table: string
  /** What stands before the dot: a database, or a schema. */
  qualifier?: string | undefined
}

const maxLength = 100_000

/** A name, plain or in one of the quotes that databases use. */
const part = '(?:[\\p{L}_][\\p{L}\\p{N}_$]*|"[^"]+"|`[^`]+`|\\[[^\\][]+\\])'
const name = `${part}(?:\\s*\\.\\s*${part}){0,2}`
const firstName = new RegExp(name, 'u')
const parts = new RegExp(part, 'gu')
const place = new RegExp(
  `(?:\\bfrom|\\bjoin|\\binto|\\btable|^\\s*update)\\s+(?:only\\s+|if\\s+exists\\s+)?(${name}(?:(?:\\s+(?:as\\s+)?${part})?\\s*,\\s*${name})*)(\\s*\\()?`,
  'giu',
)

/**
 * The tables of a SQL statement in the order in which it names them, each once. Names of common
 * table expressions and of functions are none. Nothing is parsed: what is found is used to look at
 * tables before the statement runs, never to decide whether it may.
 */
export function sqlTables(sql: string): SqlTable[] {
  const text = withoutLiterals(sql.slice(0, maxLength))
  const own = commonTables(text)
  const found = new Map<string, SqlTable>()
  for (const [whole, list = '', bracket] of text.matchAll(place)) {
    const isInsert = /^into/i.test(whole.trimStart())
    if (bracket !== undefined && !isInsert) continue
    for (const item of list.split(',')) {
      const table = readName(item)
      const isOwn = table.qualifier === undefined && own.has(table.table.toLowerCase())
      if (table.table !== '' && !isOwn) found.set(`${table.qualifier ?? ''}.${table.table}`, table)
    }
  }
  return [...found.values()]
}

function withoutLiterals(sql: string): string {
  return sql
    .replace(/--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'/g, ' ')
    .replace(/\b(?:extract|substring|trim|overlay|position)\s*\([^()]*\)/gi, ' ')
    .replace(/\bdistinct\s+from\b/gi, ' ')
    .replace(/\bcreate\s+(?:\w+\s+){0,3}?table\s+(?:if\s+not\s+exists\s+)?/gi, ' ')
}

function commonTables(sql: string): ReadonlySet<string> {
  if (!/^\s*with\b/i.test(sql)) return new Set()
  const names = sql.matchAll(
    /(?<![\p{L}\p{N}_$])([\p{L}_][\p{L}\p{N}_$]*)\s*(?:\([^()]*\)\s*)?\bas\s*(?:not\s+materialized\s*|materialized\s*)?\(/giu,
  )
  return new Set(Array.from(names, ([, found = '']) => found.toLowerCase()))
}

/** `a.b AS c` is the table `b`, qualified by `a`. */
function readName(item: string): SqlTable {
  const [written = ''] = firstName.exec(item) ?? []
  const names = Array.from(written.matchAll(parts), ([text]) => unquote(text))
  return { table: names.at(-1) ?? '', qualifier: names.length > 1 ? names.at(-2) : undefined }
}

function unquote(text: string): string {
  return /^["`[]/.test(text) ? text.slice(1, -1) : text
}
