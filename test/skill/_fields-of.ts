import { readFields } from '../../src/skill/fields.ts'
import { readYaml } from '../../src/skill/read-yaml.ts'

/** The fields of a frontmatter, whose first line is line 2 as in a file. */
export function fieldsOf(source: string): ReturnType<typeof readFields> {
  const { root, diagnostics } = readYaml(`${source}\n`, { firstLine: 2, path: 'a/SKILL.md' })
  if (root?.kind !== 'map') throw new Error(`no mapping: ${JSON.stringify(diagnostics)}`)
  return readFields(root, { path: 'a/SKILL.md' })
}

/** What was reported, as `code:line`. */
export function codesOf(source: string): string[] {
  return fieldsOf(source).diagnostics.map(({ code, line }) => `${code}:${line}`)
}
