import type { Diagnostic } from '#core/errors'
import type { TriggerDeclaration } from '#skill/model'
import { readRegularFile, resolveInside } from '#core/read-files'
import { estimateTokens, withoutEnd } from '#core/text'
import type { TriggerMatch, TriggerSkill } from './match.ts'

export interface InjectedReference {
  skill: string
  path: string
  file: string
  tokens: number
  text: string
}

/** `file`: absolute, for the instruction to read it; undefined if there is nothing to read. */
export type DeferredReference = Pick<InjectedReference, 'skill' | 'path'> & {
  file?: string
  reason: string
}

/** The references that are injected, and the others, each with a reason. */
export interface Injection {
  injected: readonly InjectedReference[]
  deferred: readonly DeferredReference[]
  diagnostics: readonly Diagnostic[]
}

interface InjectionOptions {
  /** Estimated tokens that all references together may have; default no limit. */
  tokenBudget?: number | undefined
  /**
   * Whether a skill's text may be injected; default: every skill's. Hooks exclude untrusted skills.
   */
  mayInject?: (skill: TriggerSkill) => boolean
}

/**
 * Plans each file once, in the order of the matches, until the budget is used up; defers the others
 * with a reason.
 */
export function planInjection(
  matches: readonly TriggerMatch[],
  { tokenBudget = Infinity, mayInject = () => true }: InjectionOptions = {},
): Injection {
  const injected: InjectedReference[] = []
  const deferred: DeferredReference[] = []
  const diagnostics: Diagnostic[] = []
  const seen = new Set<string>()
  let used = 0
  for (const { skill, trigger } of matches) {
    const reference = { skill: skill.name, path: trigger.inject }
    const directory = trigger.base ?? skill.directory
    const key = `${directory}\0${reference.path}`
    if (seen.has(key)) continue
    seen.add(key)
    if (!mayInject(skill)) {
      deferred.push({ ...reference, reason: 'the skill is not trusted (skillrail trust)' })
      continue
    }
    const target = readTarget(directory, reference.path)
    if (!target.ok) {
      deferred.push({ ...reference, reason: target.message })
      diagnostics.push(targetDiagnostic(skill.path, trigger, target))
      continue
    }
    const { file, text } = target
    if (seen.has(file)) continue
    seen.add(file)
    const tokens = estimateTokens(text)
    const reason = `${tokens} tokens do not fit: ${used} of ${tokenBudget} are used`
    if (used + tokens > tokenBudget) deferred.push({ ...reference, file, reason })
    else {
      used += tokens
      injected.push({ ...reference, file, tokens, text })
    }
  }
  return { injected, deferred, diagnostics }
}

/** Returns the text for the context, byte for byte as the reference script prints it. */
export function renderInjection(injected: readonly InjectedReference[]): string {
  return injected
    .map(({ path, text }) => `<!-- injected: ${path} -->\n${withoutEnd(text, '\n')}\n\n`)
    .join('')
}

export function targetDiagnostic(
  path: string,
  trigger: { inject: string; line: number },
  { code, message }: TargetReading & { ok: false },
): Diagnostic {
  return {
    code: targetCodes[code] ?? 'trigger-target-unusable',
    severity: 'error',
    message: `The file that a trigger injects cannot be used: ${message}.`,
    path,
    line: trigger.line,
  }
}

const targetCodes: Partial<Record<string, string>> = {
  'path-missing': 'trigger-target-missing',
  'file-missing': 'trigger-target-missing',
  'path-escapes': 'trigger-target-outside',
  'path-absolute': 'trigger-target-outside',
  'file-too-large': 'trigger-target-too-large',
  'file-binary': 'trigger-target-binary',
  'file-not-utf8': 'trigger-target-binary',
}

/** A larger reference is refused: it would be some 250,000 tokens. */
const maxTargetBytes: number = 1024 * 1024

type TargetReading =
  /** `file` is the real path, so that two paths to one file are equal. */
  { ok: true; file: string; text: string } | { ok: false; code: string; message: string }

/** Returns the estimated tokens that a trigger injects, or why it injects nothing. */
export function costOf(
  { directory }: Pick<TriggerSkill, 'directory'>,
  { inject, base }: TriggerDeclaration,
) {
  const target = readTarget(base ?? directory, inject)
  const tokens = target.ok ? estimateTokens(target.text) : undefined
  return { tokens, problem: target.ok ? undefined : target.message }
}

/**
 * Reads a trigger's file: UTF-8 text of at most 1 MiB whose real path is inside the skill. Never
 * throws.
 */
export function readTarget(directory: string, inject: string): TargetReading {
  const inside = resolveInside(directory, inject)
  if (!inside.ok) return inside
  const reading = readRegularFile(inside.path, { maxBytes: maxTargetBytes })
  if (!reading.ok) return reading
  if (reading.bytes.includes(0)) {
    return { ok: false, code: 'file-binary', message: `${inside.path} is binary, not text` }
  }
  return { ok: true, file: inside.path, text: reading.text }
}
