import type { Diagnostic } from '../base/index.ts'
import { besideChain, misplacedPolicy, type SkillDocument } from '../skill/index.ts'

/**
 * What a skill says in vain, for whoever runs it.
 *
 * @param diagnostics of reading it.
 * @param script its own, below its directory.
 */
export function unheeded(
  skill: SkillDocument,
  diagnostics: readonly Diagnostic[],
  script: string | undefined,
): Diagnostic[] {
  return [
    ...diagnostics.filter(({ code }) => saidOfRuns.has(code)),
    ...misplacedPolicy(skill.frontmatter, skill.path),
    ...(skill.fields.chain === undefined ? policyAlone(skill) : scriptBeside(skill, script)),
  ]
}

const saidOfRuns: ReadonlySet<string> = new Set(['chain-unknown-key', 'field-placement'])

/** A chain beside a script, which its author may expect to run as well. */
function scriptBeside({ path, fields }: SkillDocument, script: string | undefined): Diagnostic[] {
  if (script === undefined) return []
  return [
    {
      code: 'script-beside-chain',
      severity: 'warning',
      message: `the skill is a chain, so its own script ${script} does not run`,
      path,
      line: fields.chain?.line,
      hint: 'Make the script a skill of its own and name it in the chain, or remove one of the two.',
    },
  ]
}

/** A policy below `metadata` without a chain. One whose chain is broken has an error already. */
function policyAlone({ path, frontmatter }: SkillDocument): Diagnostic[] {
  const metadata = frontmatter.entries.find(({ key }) => key.text === 'metadata')?.value
  const entries = metadata?.kind === 'map' ? metadata.entries : []
  if (entries.some(({ key }) => key.text === 'chain')) return []
  const alone = entries.filter(({ key }) => besideChain.has(key.text))
  return alone.map(({ key }) => ({
    code: 'policy-without-chain',
    severity: 'warning',
    message: `\`${key.text}\` has no effect without a \`chain\``,
    path,
    line: key.line,
    column: key.column,
    hint: 'Name the steps in `chain` beside it, or remove it.',
  }))
}
