import { type Diagnostic, nearest } from '../base/index.ts'
import { besideChain } from './_field-chain.ts'
import { finding } from './_finding.ts'
import { metadataFields, topFields } from './field-table.ts'
import type { YamlEntry, YamlMap } from './read-yaml.ts'

/** The policy of a chain at the top level of a frontmatter, where it has no effect. */
export function misplacedPolicy(frontmatter: YamlMap, path: string): Diagnostic[] {
  const misplaced = frontmatter.entries.filter(({ key }) => besideChain.has(key.text))
  return misplaced.map((entry) => unknownField(path, entry))
}

export function unknownField(path: string, { key }: YamlEntry): Diagnostic {
  const meant = metadataFields.has(key.text) ? undefined : nearest(key.text, topFields.keys())
  const message = `\`${key.text}\` is no field of the specification, of Skillrail or of a known client.`
  const policyHint = besideChain.has(key.text)
    ? 'Indent it, with its chain, below `metadata:`.'
    : undefined
  const meantHint = meant === undefined ? undefined : `Did you mean \`${meant}\`?`
  const hint = policyHint ?? meantHint ?? 'Move it below `metadata:`, where clients keep their own.'
  return finding('unknown-field', path, key, message, hint)
}
