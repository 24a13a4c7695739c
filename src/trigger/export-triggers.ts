import type { Diagnostic } from '../base/index.ts'
import { splitFrontmatter } from '../skill/index.ts'
import { findBlock, removeBlock, writeBlock } from './marked-block.ts'
import type { TriggerSkill } from './match.ts'
import { readPortableTriggers } from './portable-triggers.ts'
import { isPortable } from './rewrite-pattern.ts'

/** Between these lines of a body everything is ours. */
export const routingMarkers = {
  begin: '<!-- skillrail:triggers -->',
  end: '<!-- /skillrail:triggers -->',
} as const

/** Where the script stands, relative to the skill. */
export const scriptPath = 'scripts/inject-context'

export interface TriggerExport {
  /** The whole `SKILL.md` with the instruction and the routing table in its body. */
  text: string
  diagnostics: readonly Diagnostic[]
}

/**
 * Puts the second and the third layer into a `SKILL.md`: the instruction to run the script, and the
 * table by which a model without a shell finds the references. The same text again changes nothing.
 */
export function exportTriggers(skill: TriggerSkill & { text: string }): TriggerExport {
  const { text, path } = skill
  const split = splitFrontmatter(text)
  if (!split.found) return { text, diagnostics: [] }
  const written = writeBlock(split.body, routingBlock(skill), routingMarkers)
  const diagnostics = notInScript(skill)
  if ('problem' in written) {
    const message = `The body is left as it is: ${written.problem}.`
    const hint = `Remove the other marker, or both with what is between them.`
    return {
      text,
      diagnostics: [
        { code: 'trigger-markers', severity: 'error', message, path, hint },
        ...diagnostics,
      ],
    }
  }
  return { text: text.slice(0, split.bodyStart) + written.text, diagnostics }
}

/** The `SKILL.md` without what {@link exportTriggers} wrote. */
export function withoutExport(text: string): string {
  const split = splitFrontmatter(text)
  if (!split.found || !findBlock(split.body, routingMarkers).found) return text
  return text.slice(0, split.bodyStart) + removeBlock(split.body, routingMarkers)
}

function routingBlock({ triggers }: TriggerSkill): string {
  const rows = triggers.map(({ match, inject }) => `| ${cell(match)} | ${cell(inject)} |\n`)
  return `## References for this request

Where the context already has \`<!-- injected: FILE -->\` with a file's text, that file is loaded: do not
read it again. Otherwise run this in the skill's directory before anything else, with the user's whole
prompt, and follow what it prints:

\`\`\`sh
sh ${scriptPath} <<'PROMPT'
the user's prompt
PROMPT
\`\`\`

Without a shell, read the files of every row whose pattern matches a line of the prompt:

| pattern | file |
|---|---|
${rows.join('')}`
}

/** Code in a table: a bar is escaped, and the fence is longer than any run of backticks inside. */
function cell(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = longest > 0 ? ' ' : ''
  return `${fence}${pad}${text.replaceAll('|', '\\|')}${pad}${fence}`
}

/** Triggers that the script does not see, or that `grep -E` reads differently. */
function notInScript({ text, path, triggers }: TriggerSkill & { text: string }): Diagnostic[] {
  const reading = readPortableTriggers(text)
  if (!reading.portable) {
    const message = `The script does not see the triggers from line ${reading.line} on: ${reading.reason}.`
    const hint = 'Write every trigger as two lines, `- match: "…"` and below it `inject: …`.'
    return [
      { code: 'trigger-format', severity: 'warning', message, path, line: reading.line, hint },
    ]
  }
  return triggers.flatMap(({ match, line }): Diagnostic[] => {
    if (isPortable(match)) return []
    const message = `The script may read the pattern \`${match}\` differently.`
    const hint =
      '`skillrail triggers check` says how, and --fix rewrites it where that is possible.'
    return [
      { code: 'trigger-pattern-not-portable', severity: 'warning', message, path, line, hint },
    ]
  })
}
