import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '#core/errors'
import { sha256 } from '#core/json'
import { readRegularFile } from '#core/read-files'
import { splitFrontmatter } from '#skill/frontmatter'
import { type TriggerSkill, triggerSource } from './match.ts'
import { compilePattern } from './pattern.ts'
import { isPortable } from './check.ts'
import { readPortableTriggers } from './read-triggers.ts'

/**
 * Markers around Skillrail's lines in a user's file: everything between them belongs to Skillrail.
 */
type BlockMarkers = Record<'begin' | 'end', string>

const routingMarkers: BlockMarkers = {
  begin: '<!-- skillrail:triggers -->',
  end: '<!-- /skillrail:triggers -->',
}

const scriptPath = 'scripts/inject-context'

/** One script under two names: the first injects references, the second tests the patterns. */
export const scriptPaths = [scriptPath, 'scripts/validate-triggers'] as const

/**
 * Writes the instruction to run the script, and the table for a model without a shell, into the
 * body.
 */
export function exportTriggers(skill: TriggerSkill & { text: string }): {
  text: string
  diagnostics: readonly Diagnostic[]
} {
  const { text, path } = skill
  const split = splitFrontmatter(text)
  if (!split.found) return { text, diagnostics: [] }
  const blockResult = writeBlock(split.body, routingBlock(skill), routingMarkers)
  const diagnostics = notInScript(skill)
  if ('text' in blockResult)
    return { text: text.slice(0, split.bodyStart) + blockResult.text, diagnostics }
  const message = `The body is left as it is: ${blockResult.problem}.`
  const damaged = { code: 'trigger-markers', severity: 'error' as const, message, path }
  return { text, diagnostics: [damaged, ...diagnostics] }
}

/**
 * Reports differences between the triggers and an export: the table in the body, and the script.
 */
export function exportProblems(skill: TriggerSkill & { text: string }): Diagnostic[] {
  const { name, text, path, directory } = skill
  const split = splitFrontmatter(text)
  const hasTable = split.found && findBlock(split.body, routingMarkers) !== undefined
  const scripts = scriptPaths.map((script) => {
    return {
      script,
      reading: readRegularFile(join(directory, script), { maxBytes: longestScript }),
    }
  })
  const isExported = scripts.some(({ reading }) => reading.ok && isSigned(reading.text))
  if (!hasTable && !isExported) return []
  const code = 'trigger-export-outdated'
  const hint = `Run: skillrail triggers export ${name}`
  const outdated = (message: string): Diagnostic[] => [
    { code, severity: 'warning', message, path, hint, source: triggerSource },
  ]
  const exported = exportTriggers(skill)
  const isOld = (text: string) => scriptOrigin(text) === 'ours' && text !== scriptText()
  return [
    ...(hasTable ? [] : outdated(`The body has no routing table for \`${scriptPath}\`.`)),
    ...(hasTable && exported.text !== text
      ? outdated('The routing table in the body does not have the triggers of the frontmatter.')
      : []),
    ...scripts.flatMap(({ script, reading }) => {
      if (!reading.ok) return outdated(`The export has no \`${script}\`.`)
      return isOld(reading.text)
        ? outdated(`\`${script}\` is of another version of Skillrail.`)
        : []
    }),
    ...exported.diagnostics,
  ]
}

/** Removes the text that {@link exportTriggers} wrote, and the blank line before it. */
export function withoutExport(text: string): string {
  const split = splitFrontmatter(text)
  const place = split.found ? findBlock(split.body, routingMarkers) : undefined
  if (!split.found || place?.start === undefined) return text
  const before = split.body.slice(0, place.start).replace(/(\n)\r?\n$/, '$1')
  return text.slice(0, split.bodyStart) + before + split.body.slice(place.end)
}

function routingBlock({ triggers }: TriggerSkill): string {
  const onPrompts = triggers.filter(({ when }) => when === undefined)
  const patterns = onPrompts.flatMap(({ match }) => {
    const reading = compilePattern(match)
    return reading.ok ? [reading.pattern] : []
  })
  const isMatched = (text: string) => patterns.some(({ test }) => test(text))
  const rows = onPrompts.map(({ match, inject }) => {
    const row = (pattern: string) => `| ${cell(pattern)} | ${cell(inject)} |\n`
    const safe = row(notItself(match))
    return isMatched(row(match).trimEnd()) && !isMatched(safe.trimEnd()) ? safe : row(match)
  })
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

/** Rewrites a pattern so that it does not match its own text, as in `grep '[d]eploy'`. */
function notItself(pattern: string): string {
  if (/\(\?|\\[^\W_dswbDSWB]/.test(pattern)) return pattern
  const part = /\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]|\{[\d,]+\}|[A-Za-z0-9]+/gs
  return pattern.replaceAll(part, (text) =>
    /^[A-Za-z0-9]/.test(text) ? `[${text.charAt(0)}]${text.slice(1)}` : text,
  )
}

/**
 * Writes code in a table: escapes bars, and uses a fence longer than any run of backticks inside.
 */
function cell(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = longest > 0 ? ' ' : ''
  return `${fence}${pad}${text.replaceAll('|', '\\|')}${pad}${fence}`
}

/** Reports triggers that the script does not read, or that `grep -E` reads differently. */
function notInScript({ text, path, triggers }: TriggerSkill & { text: string }): Diagnostic[] {
  const reading = readPortableTriggers(text)
  if (!reading.portable) {
    const { line } = reading
    const message = `The script does not see the triggers from line ${line} on: ${reading.reason}.`
    return [{ code: 'trigger-format', severity: 'warning', message, path, line }]
  }
  const code = 'trigger-pattern-not-portable'
  const hint = 'See: skillrail triggers check'
  return triggers
    .filter(({ match, when }) => when === undefined && !isPortable(match))
    .map(({ match, line }) => {
      const message = `The script may read the pattern \`${match}\` differently.`
      return { code, severity: 'warning', message, path, line, hint }
    })
}

function findBlock(text: string, { begin, end }: BlockMarkers) {
  const first = lineOffset(text, begin, 0)
  const last = lineOffset(text, end, Math.max(first, 0))
  if (first < 0 && last < 0) return undefined
  if (first < 0 || last < 0) return { problem: `the marker ${first < 0 ? begin : end} is missing` }
  if (lineOffset(text, begin, first + 1) >= 0) {
    return { problem: `the marker ${begin} is there twice` }
  }
  const lineEnd = text.indexOf('\n', last)
  return { start: first, end: lineEnd < 0 ? text.length : lineEnd + 1 }
}

/** Writes lines between markers into a text: replaces the block, or appends one. */
export function writeBlock(
  text: string,
  content: string,
  markers: BlockMarkers,
): { text: string } | { problem: string } {
  const place = findBlock(text, markers)
  if (place?.problem !== undefined) return { problem: place.problem }
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = `${markers.begin}\n${content}${markers.end}\n`.replaceAll('\n', newline)
  if (place) return { text: text.slice(0, place.start) + lines + text.slice(place.end) }
  if (text === '') return { text: lines }
  return { text: `${text}${text.endsWith('\n') ? '' : newline}${newline}${lines}` }
}

function lineOffset(text: string, line: string, from: number): number {
  for (let at = text.indexOf(line, from); at >= 0; at = text.indexOf(line, at + 1)) {
    const starts = at === 0 || text[at - 1] === '\n'
    if (starts && /^(?:\r?\n|$)/.test(text.slice(at + line.length, at + line.length + 2))) return at
  }
  return -1
}

/** The second line of a generated script: `# skillrail inject-context DIGEST-OF-THE-REST`. */
const signature = /^# skillrail inject-context (sha256:[0-9a-f]{64})\n/

/**
 * Returns the text of both scripts: the same for every skill, because it reads the `SKILL.md` next
 * to it.
 */
export function scriptText(): string {
  const path = fileURLToPath(new URL('../../plugins/portable/inject-context.sh', import.meta.url))
  const script = readFileSync(path, 'utf8')
  return `#!/bin/sh\n# skillrail inject-context ${sha256(script)}\n${script}`
}

const longestScript = 1024 * 1024

function isSigned(text: string): boolean {
  return signature.test(text.replace(/^#![^\n]*\n/, ''))
}

/** Whether Skillrail generated a script and nobody has changed it since. */
export function scriptOrigin(text: string): 'ours' | 'foreign' {
  const rest = text.replace(/^#![^\n]*\n/, '')
  const digest = signature.exec(rest)?.[1]
  return digest === sha256(rest.replace(signature, '')) ? 'ours' : 'foreign'
}
