import { compareDiagnostics, type Diagnostic, type Severity } from '../core/diagnostic.ts'
import { estimateTokens } from '../skill/catalog.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import { readTarget, targetDiagnostic, type TargetReader } from './inject.ts'
import {
  columnOf,
  firstMatch,
  patternDiagnostic,
  promptLines,
  triggerSource,
  type TriggerSkill,
} from './match.ts'
import { parsePattern } from './parse-pattern.ts'
import { sequenceOf } from './pattern-tree.ts'
import { compilePattern, type Pattern, plainText, requiredText } from './pattern.ts'
import { portableRewrite } from './rewrite-pattern.ts'
import { readPortableTriggers } from './read-triggers.ts'

/** A skill whose triggers are checked. */
export interface CheckedSkill extends TriggerSkill {
  /** The whole `SKILL.md`. */
  text: string
  /** The text after the closing `---`, unchanged. */
  body: string
}

export interface TriggerCheck {
  skill: string
  path: string
  /** In the order of the triggers. */
  triggers: readonly {
    match: string
    inject: string
    line: number
    /** Where it matches the skill's own body: the line from the body's first, and its text. */
    risk?: { bodyLine: number; text: string } | undefined
    /** Why it cannot inject: a sentence for each error in its pattern or file. */
    problems: readonly string[]
  }[]
  diagnostics: readonly Diagnostic[]
}

/** Checks a skill's triggers for its author. Pure except for `read`. */
export function checkTriggers(
  skill: CheckedSkill,
  options: { read?: TargetReader | undefined } = {},
): TriggerCheck {
  const { read = readTarget } = options
  const lines = skill.text.split(/\r?\n/)
  const body = promptLines(skill.body)
  const diagnostics: Diagnostic[] = []
  const triggers = skill.triggers.map((trigger) => {
    const reading = compilePattern(trigger.match)
    const target = read(skill.directory, trigger.inject)
    const lineText = lines[trigger.line - 1]
    const found: Diagnostic[] = reading.ok
      ? [...portability(skill, trigger, reading.pattern, lineText), ...moment(skill, trigger)]
      : [patternDiagnostic(skill.path, trigger, reading.problem, lineText)]
    if (!target.ok) found.push(targetDiagnostic(skill.path, trigger, target))
    diagnostics.push(...found)
    const errors = found.filter(({ severity }) => severity === 'error')
    const place = reading.ok ? firstMatch(reading.pattern, body) : undefined
    const risk = place && {
      bodyLine: place.promptLine,
      text: body[place.promptLine - 1] ?? '',
    }
    if (risk !== undefined) diagnostics.push(bodyDiagnostic(skill, trigger, risk.bodyLine))
    return { ...trigger, risk, problems: errors.map(({ message }) => message) }
  })
  diagnostics.push(...checkReach(skill), ...checkFormat(skill), ...checkSize(skill, read))
  const { name, path } = skill
  return { skill: name, path, triggers, diagnostics: diagnostics.toSorted(compareDiagnostics) }
}

function portability(
  skill: CheckedSkill,
  trigger: TriggerDeclaration,
  { notes }: Pattern,
  lineText: string | undefined,
): Diagnostic[] {
  const rewrite = portableRewrite(trigger.match)
  const whole = rewrite === undefined ? undefined : `Write \`${rewrite}\`; \`--fix\` does it.`
  return notes.map((note) => ({
    code: 'trigger-pattern-not-portable',
    severity: 'warning',
    message: `\`${note.text}\` is read differently by ${note.engines.join(' and ')}: ${note.message}.`,
    path: skill.path,
    line: trigger.line,
    column: columnOf(trigger.match, note.start, lineText),
    hint: whole ?? hintFor(note.construct),
    source: triggerSource,
  }))
}

function hintFor(construct: string): string {
  if (construct === 'perl-class' || construct === 'posix-class') {
    return 'Write the characters in brackets; for a blank, a blank.'
  }
  return 'It has no portable spelling; Skillrail reads it as RE2 does.'
}

/** Words for what happens while a skill runs: no user types them to call it. */
const midExecution =
  /\b(?:errors?|errored|fail(?:ed|s|ure|ures|ing)?|blocked|exception|crash(?:ed|es)?|timeout|timed out|retry|retries|stuck|abort(?:ed)?)\b/i

function moment({ path }: CheckedSkill, { match, line }: TriggerDeclaration): Diagnostic[] {
  const word = match.startsWith('^') ? null : midExecution.exec(match)
  if (word === null) return []
  return [
    {
      code: 'trigger-mid-execution',
      severity: 'warning',
      message: `The pattern \`${match}\` waits for \`${word[0]}\`, which happens while the skill runs; triggers see only what the user types.`,
      path,
      line,
      hint: 'Tell the model in the body when to read this reference.',
      source: triggerSource,
    },
  ]
}

/**
 * A trigger that matches the skill's own body. Some clients pass the body to a hook as part of the
 * prompt, and there such a trigger fires on every invocation.
 */
function bodyDiagnostic(
  { name, path }: CheckedSkill,
  { match, line }: TriggerDeclaration,
  bodyLine: number,
): Diagnostic {
  return {
    code: 'trigger-matches-body',
    severity: 'error',
    message: `The pattern \`${match}\` matches the skill's own body, in its line ${bodyLine}.`,
    path,
    line,
    hint: `Begin it with what the user types, such as \`^/${name} \`; references for later belong into the body.`,
    source: triggerSource,
  }
}

/** Triggers that add nothing: another one injects the same file whenever they fire. */
function checkReach({ triggers, path }: CheckedSkill): Diagnostic[] {
  return triggers.flatMap((trigger, index): Diagnostic[] => {
    const { match, inject, line } = trigger
    const alike = triggers.filter((other) => other !== trigger && other.inject === inject)
    const twin = alike.find((other) => other.match === match && triggers.indexOf(other) < index)
    const severity = 'warning'
    if (twin !== undefined) {
      const message = `The trigger \`${match}\` is the one of line ${twin.line} again.`
      return [{ code: 'trigger-duplicate', severity, message, path, line, hint: 'Remove one.' }]
    }
    const wider = alike.find((other) => other.match !== match && implies(match, other.match))
    if (wider === undefined) return []
    const message = `The trigger \`${match}\` adds nothing: \`${wider.match}\` in line ${wider.line} injects the same file whenever it fires.`
    return [{ code: 'trigger-unreachable', severity, message, path, line, hint: 'Remove it.' }]
  })
}

/** Whether every line that matches `narrow` provably matches `wide`. */
function implies(narrow: string, wide: string): boolean {
  const plain = plainText(wide)
  const parsed = parsePattern(narrow)
  if (plain === undefined || plain.atEnd || !parsed.ok || parsed.tree === undefined) return false
  const { text } = plain
  if (!plain.atStart) {
    return requiredText(parsed.tree).some((clause) => clause.every((part) => part.includes(text)))
  }
  const [first, second] = sequenceOf(parsed.tree)
  return first?.kind === 'start' && second?.kind === 'literal' && second.text.startsWith(text)
}

/** Triggers that only a full YAML reader finds. */
function checkFormat({ triggers, text, path }: CheckedSkill): Diagnostic[] {
  const reading = readPortableTriggers(text)
  if (triggers.length === 0 || reading.portable) return []
  const message = `The triggers are not in the portable format, so that scripts/inject-context and simple readers do not see them: ${reading.reason}.`
  const { line } = reading
  return [{ code: 'trigger-format', severity: 'info', message, path, line, source: triggerSource }]
}

/** Below this number of tokens a skill is better loaded whole ("Tiny skills" in the proposal). */
const smallSkill = 2000

function checkSize(skill: CheckedSkill, read: TargetReader): Diagnostic[] {
  const [first] = skill.triggers
  if (first === undefined) return []
  let tokens = estimateTokens(skill.body)
  for (const inject of new Set(skill.triggers.map((trigger) => trigger.inject))) {
    const target = read(skill.directory, inject)
    // The size of a skill with a missing file is unknown.
    if (!target.ok) return []
    tokens += estimateTokens(target.text)
  }
  if (tokens >= smallSkill) return []
  return [
    {
      code: 'trigger-small-skill',
      severity: 'info',
      message: `The skill has ${tokens} tokens with all its references; below ${smallSkill} triggers cost more than they save.`,
      path: skill.path,
      line: first.line,
      hint: 'Put the references into the body.',
      source: triggerSource,
    },
  ]
}

/** Every code of the trigger checks with its rule, for reports that describe their rules. */
export const triggerRules: readonly { code: string; severity: Severity; sentence: string }[] = [
  error('pattern-invalid', 'A pattern is a valid regular expression.'),
  error('pattern-too-large', 'A pattern compiles to a program of bounded size.'),
  error('pattern-too-long', 'A pattern has a bounded number of characters.'),
  error('pattern-unsupported', 'A pattern has only what can be tested in linear time.'),
  error('prompt-case-invalid', 'A file of prompts has a prompt and what it injects in each case.'),
  error('trigger-markers', 'The markers of a generated part of a file come in pairs.'),
  error('trigger-matches-body', 'A pattern does not match the body of its own skill.'),
  error('trigger-target-binary', 'A reference that a trigger injects is text.'),
  error('trigger-target-missing', 'A reference that a trigger injects exists.'),
  error('trigger-target-outside', 'A reference that a trigger injects lies inside its skill.'),
  error('trigger-target-too-large', 'A reference that a trigger injects has a bounded size.'),
  error('trigger-target-unusable', 'A reference that a trigger injects can be read.'),
  warning('trigger-duplicate', 'A pattern stands once in a skill for one reference.'),
  warning('trigger-mid-execution', 'A pattern waits for a prompt, not for what a run brings.'),
  warning('trigger-pattern-not-portable', 'A pattern means the same in every engine.'),
  warning('trigger-unreachable', 'A trigger can fire where an earlier one does not.'),
  info('trigger-format', 'Triggers stand in the format that simple readers see.'),
  info('trigger-overlap', 'One prompt fires triggers of several skills.'),
  info('trigger-small-skill', 'A skill is large enough for triggers to save something.'),
]

function error(code: string, sentence: string): (typeof triggerRules)[number] {
  return { code, severity: 'error', sentence }
}

function warning(code: string, sentence: string): (typeof triggerRules)[number] {
  return { code, severity: 'warning', sentence }
}

function info(code: string, sentence: string): (typeof triggerRules)[number] {
  return { code, severity: 'info', sentence }
}
