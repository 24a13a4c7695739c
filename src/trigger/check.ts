import { type Diagnostic, type Severity, compareDiagnostics, errorsIn } from '#core/errors'
import { estimateTokens } from '#core/text'
import type { TriggerDeclaration } from '#skill/model'
import { readTarget, targetDiagnostic } from './inject.ts'
import {
  type TriggerSkill,
  columnOf,
  firstMatch,
  patternDiagnostic,
  promptLines,
  triggerSource,
} from './match.ts'
import {
  commandNeverFires,
  isUnanchoredCommand,
  type KnownServers,
  toolNeverFires,
  unknownTool,
  unmatchedGlobs,
} from './never-fires.ts'
import { parsePattern } from './parse-pattern.ts'
import { type Pattern, type PatternReading, compilePattern } from './pattern.ts'
import type { ProjectFiles } from './project-files.ts'
import { readPortableTriggers } from './read-triggers.ts'
import { globPattern } from './tool-call.ts'
import { parseSkill } from '#skill/parse'

export interface CheckedSkill extends TriggerSkill {
  text: string
  body: string
}

export interface TriggerCheck {
  skill: string
  path: string
  triggers: readonly (TriggerDeclaration & {
    /**
     * Where it matches the skill's own body: the line, counted from the body's first, and its text.
     */
    risk?: { bodyLine: number; text: string } | undefined
    problems: readonly string[]
    /** Why it never fires; absent if it may. */
    neverFires?: readonly string[] | undefined
  })[]
  diagnostics: readonly Diagnostic[]
}

/** What triggers are compared with. */
export interface CheckedPlace {
  /** The project's files; without them globs are not compared with files. */
  files?: ProjectFiles | undefined
  /** The MCP servers of the clients; without them the names of tools are not compared with tools. */
  servers?: KnownServers | undefined
}

export function checkTriggers(skill: CheckedSkill, place: CheckedPlace = {}): TriggerCheck {
  const { name, path } = skill
  const lines = skill.text.split(/\r?\n/)
  const body = promptLines(skill.body)
  const diagnostics: Diagnostic[] = []
  const triggers = skill.triggers.map((trigger) => {
    const { when } = trigger
    const target = readTarget(skill.directory, trigger.inject)
    const lineText = lines[trigger.line - 1]
    const patterns = patternsOf(trigger).map(compilePattern)
    const wrong = patterns.flatMap((reading) => (reading.ok ? [] : [reading.problem]))
    const [reading] = when ? [] : patterns
    const problems = wrong.map((problem) => patternDiagnostic(path, trigger, problem, lineText))
    if (reading?.ok)
      problems.push(
        ...portability(path, trigger, reading.pattern, lineText),
        ...moment(path, trigger),
      )
    if (!target.ok) problems.push(targetDiagnostic(path, trigger, target))
    else if (target.text.trim() === '') {
      const message = `The file \`${trigger.inject}\` is empty, so the trigger injects nothing.`
      problems.push(finding('trigger-target-empty', path, trigger, { message }))
    }
    const reasons = neverFires(path, trigger, patterns, place)
    problems.push(...reasons)
    diagnostics.push(...problems)
    const inBody = reading?.ok ? firstMatch(reading.pattern, body) : undefined
    const { promptLine: bodyLine = 0 } = inBody ?? {}
    const risk = inBody && { bodyLine, text: body[bodyLine - 1] ?? '' }
    if (risk) {
      // Some clients pass the body to a hook as part of the prompt: the trigger fires on every
      // invocation.
      const message = `The pattern \`${trigger.match}\` matches the skill's own body, in its line ${bodyLine}.`
      const hint = `Begin it with what the user types, such as \`^/${name} \`.`
      diagnostics.push(finding('trigger-matches-body', path, trigger, { message, hint }))
    }
    const isIdle =
      when?.kind === 'paths'
        ? reasons.length === when.paths.length
        : idleTriggers(reasons).length > 0
    return {
      ...trigger,
      risk,
      problems: errorsIn(problems).map(({ message }) => message),
      neverFires: isIdle ? reasons.map(({ message }) => message) : undefined,
    }
  })
  diagnostics.push(...checkTwins(skill), ...checkFormat(skill), ...checkSize(skill))
  return { skill: name, path, triggers, diagnostics: diagnostics.toSorted(compareDiagnostics) }
}

/** The rules that say that a trigger, or a glob of it, cannot fire. */
const idleRules: ReadonlySet<string> = new Set([
  'trigger-never-fires',
  'trigger-paths-unmatched',
  'trigger-tool-unknown',
] satisfies (keyof typeof rules)[])

/** Returns the diagnostics that say that a trigger, or a glob of it, cannot fire. */
export function idleTriggers(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ code }) => idleRules.has(code))
}

/** Returns the regular expressions of a trigger, or of its globs; none of a trigger with another form. */
export function patternsOf({ match, when }: TriggerDeclaration): string[] {
  if (!when) return [match]
  if (when.kind === 'command') return [when.pattern]
  return when.kind === 'paths' ? when.paths.map(globPattern) : []
}

function finding(
  code: keyof typeof rules,
  path: string,
  { line }: { line: number },
  facts: { message: string; hint?: string; column?: number | undefined },
): Diagnostic {
  const [severity] = rules[code]
  return { code, severity, path, line, source: triggerSource, ...facts }
}

function neverFires(
  path: string,
  trigger: TriggerDeclaration,
  readings: readonly PatternReading[],
  { files, servers }: CheckedPlace,
): Diagnostic[] {
  const { when, match } = trigger
  const [reading] = readings
  if (when?.kind === 'tool') {
    const reason = toolNeverFires(when.pattern)
    if (reason) return [finding('trigger-never-fires', path, trigger, reason)]
    const unknown = servers && unknownTool(when.pattern, servers)
    return unknown ? [finding('trigger-tool-unknown', path, trigger, unknown)] : []
  }
  if (when?.kind === 'paths') {
    const reasons = files ? unmatchedGlobs(when, files) : []
    return reasons.map((facts) => finding('trigger-paths-unmatched', path, trigger, facts))
  }
  if (!reading?.ok) return []
  if (when?.kind === 'command') {
    const reason = commandNeverFires(reading.pattern)
    if (reason) return [finding('trigger-never-fires', path, trigger, reason)]
    if (!isUnanchoredCommand(reading.pattern)) return []
    const message = `The pattern \`${when.pattern}\` also fires where these words are arguments: \`echo ${when.pattern}\`.`
    const hint = `Write \`^${when.pattern}\` for the program alone.`
    return [finding('trigger-command-anywhere', path, trigger, { message, hint })]
  }
  if (!/^\^(?: |\\s|\[ \])(?![*?{])/.test(match)) return []
  const message = `The pattern \`${match}\` fires only on a line that begins with a blank.`
  const hint = 'Remove the blank after `^`.'
  return [finding('trigger-never-fires', path, trigger, { message, hint })]
}

function portability(
  path: string,
  trigger: TriggerDeclaration,
  { notes }: Pattern,
  lineText: string | undefined,
): Diagnostic[] {
  const rewrite = portableRewrite(trigger.match)
  return notes.map(({ text, start, message }) => {
    const nearest = nearestSpellings.get(text) ?? 'It has no portable spelling.'
    const without = `${nearest} Skillrail itself reads \`${text}\` as RE2 does.`
    return finding('trigger-pattern-not-portable', path, trigger, {
      message: `\`${text}\` is not portable: ${message}.`,
      hint: rewrite === undefined ? without : `Write \`${rewrite}\`; \`--fix\` does it.`,
      column: columnOf(trigger.match, start, lineText),
    })
  })
}

/** The nearest portable spellings of constructs that have none with exactly the same meaning. */
const nearestSpellings: ReadonlyMap<string, string> = new Map([
  ['\\s', 'Write a blank in its place, or `[ ]`.'],
  ['\\S', 'Write `[^ ]` in its place.'],
  ['\\t', 'Write a blank in its place.'],
  ['\\b', 'Write `(^|[^A-Za-z0-9_])` before the word, and `([^A-Za-z0-9_]|$)` behind it.'],
  ['(?i)', 'Write both cases of a letter: `[Dd]eploy`.'],
])

/** Words about events while a skill runs: no user types them to call it. */
const midExecution =
  /\b(?:errors?|errored|fail(?:ed|s|ure|ures|ing)?|blocked|exception|crash(?:ed|es)?|timeout|timed out|retry|retries|stuck|abort(?:ed)?)\b/i

function moment(path: string, trigger: TriggerDeclaration): Diagnostic[] {
  const { match } = trigger
  const [word] = match.startsWith('^') ? [] : (midExecution.exec(match) ?? [])
  if (word === undefined) return []
  const message = `The pattern \`${match}\` waits for \`${word}\`, which happens while the skill runs, not in a prompt.`
  const hint = 'Say in the body when to read it.'
  return [finding('trigger-mid-execution', path, trigger, { message, hint })]
}

function checkTwins({ triggers, path }: CheckedSkill): Diagnostic[] {
  return triggers.flatMap((trigger, index) => {
    const { match, inject } = trigger
    const twin = triggers
      .slice(0, index)
      .find((other) => other.match === match && other.inject === inject)
    if (!twin) return []
    const message = `The trigger \`${match}\` repeats the one of line ${twin.line}.`
    return [finding('trigger-duplicate', path, trigger, { message, hint: 'Remove one.' })]
  })
}

function checkFormat({ triggers, text, path }: CheckedSkill): Diagnostic[] {
  const reading = readPortableTriggers(text)
  if (triggers.length === 0 || reading.portable) return []
  const message = `The triggers are not in the portable format that scripts/inject-context reads: ${reading.reason}.`
  return [finding('trigger-format', path, reading, { message })]
}

/** A skill with fewer tokens is better loaded whole ("Tiny skills" in the proposal). */
const smallSkill = 2000

function checkSize({ triggers, directory, body, path }: CheckedSkill): Diagnostic[] {
  const [first] = triggers
  const injected = new Set(triggers.map((trigger) => trigger.inject))
  const targets = [...injected].map((inject) => readTarget(directory, inject))
  const texts = [body, ...targets.flatMap((target) => (target.ok ? target.text : []))]
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  // The size of a skill with a missing file is unknown.
  if (!first || texts.length <= targets.length || tokens >= smallSkill) return []
  const message = `The skill has ${tokens} tokens with all its references; below ${smallSkill} it is better loaded whole.`
  return [finding('trigger-small-skill', path, first, { message })]
}

const rules = {
  'pattern-invalid': ['error', 'A pattern is a valid regular expression.'],
  'pattern-too-large': ['error', 'A pattern has a bounded size.'],
  'pattern-too-long': ['error', 'A pattern has a bounded length.'],
  'pattern-unsupported': ['error', 'A pattern can be tested in linear time.'],
  'prompt-case-invalid': ['error', 'A case has a prompt and what it injects.'],
  'trigger-markers': ['error', 'Markers come in pairs.'],
  'trigger-matches-body': ['error', 'A pattern does not match the body of its own skill.'],
  'trigger-target-binary': ['error', 'A reference is text.'],
  'trigger-target-missing': ['error', 'A reference exists.'],
  'trigger-target-outside': ['error', 'A reference is inside its skill.'],
  'trigger-target-too-large': ['error', 'A reference has a bounded size.'],
  'trigger-target-unusable': ['error', 'A reference can be read.'],
  'trigger-never-fires': ['warning', 'A trigger can fire.'],
  'trigger-never-sent': ['warning', 'Clients pass the prompt of a pattern to hooks.'],
  'trigger-paths-unmatched': ['warning', 'A glob matches a file of the project.'],
  'trigger-tool-unknown': ['warning', 'A client has the MCP server and the tool of a trigger.'],
  'trigger-target-empty': ['warning', 'A reference has text.'],
  'trigger-duplicate': ['warning', 'A trigger stands once.'],
  'trigger-export-outdated': ['warning', 'An exported script and table have the triggers.'],
  'trigger-mid-execution': ['warning', 'A pattern waits for a prompt.'],
  'trigger-pattern-not-portable': ['warning', 'A pattern means the same in every engine.'],
  'trigger-command-anywhere': ['info', 'A command pattern begins with the program.'],
  'trigger-format': ['info', 'Triggers have the portable format.'],
  'trigger-small-skill': ['info', 'A skill is large enough for triggers.'],
} as const satisfies Record<string, readonly [Severity, string]>

export const triggerRules = Object.entries(rules).map(([code, [severity, sentence]]) => {
  return { code, severity, sentence }
})

export interface TriggerFix {
  text: string
  changes: readonly { line: number; from: string; to: string }[]
}

/**
 * Rewrites patterns in the portable subset if the meaning stays the same, and changes nothing else.
 */
export function fixTriggers(text: string, path: string): TriggerFix {
  const triggers = parseSkill(text, { path }).skill?.fields.triggers ?? []
  const lines = text.split('\n')
  const changes: { line: number; from: string; to: string }[] = []
  for (const { match, line, when } of triggers) {
    const to = when ? undefined : portableRewrite(match)
    const lineText = lines[line - 1]
    if (to === undefined || lineText === undefined) continue
    const fixed = replaceValue(lineText, match, to)
    if (fixed === undefined) continue
    lines[line - 1] = fixed
    changes.push({ line, from: match, to })
  }
  const fixed = lines.join('\n')
  if (changes.length === 0) return { text, changes }
  const after = parseSkill(fixed, { path }).skill?.fields.triggers ?? []
  const expected = triggers.map(
    ({ match, line }) => changes.find((change) => change.line === line)?.to ?? match,
  )
  const isSame =
    after.length === expected.length && after.every(({ match }, at) => match === expected[at])
  return isSame ? { text: fixed, changes } : { text, changes: [] }
}

function replaceValue(line: string, from: string, to: string): string | undefined {
  const forms = [`match: '${from}'`, `match: ${from}`, quoted(from)]
  const form = forms.find((candidate) => line.includes(candidate))
  const key = form?.startsWith('match: ') ? 'match: ' : ''
  return form && line.replace(form, () => key + quoted(to))
}

/** Quotes a text with double quotes if a portable reader understands them. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/**
 * Returns the pattern in the portable subset; undefined if it is portable already, or cannot be.
 */
export function portableRewrite(source: string): string | undefined {
  const reading = compilePattern(source)
  const { notes = [] } = reading.ok ? reading.pattern : {}
  let text = source
  for (const { start, end, rewrite } of notes.toReversed()) {
    if (rewrite === undefined) return undefined
    text = text.slice(0, start) + rewrite + text.slice(end)
  }
  return text !== source && isPortable(text) ? text : undefined
}

export function isPortable(source: string): boolean {
  const reading = compilePattern(source)
  const isRead = parsePattern(source).required !== undefined
  return reading.ok && isRead && reading.pattern.notes.length === 0
}
