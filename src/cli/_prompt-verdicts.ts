import { resolve } from 'node:path'
import { type Diagnostic, readRegularFile, safeLine, SkillrailError } from '../base/index.ts'
import { matchPrompt, planInjection, type PromptCase, readPromptCases } from '../trigger/index.ts'
import type { CheckedFile } from './_trigger-verdicts.ts'
import { amount } from '../base/text.ts'
import type { CommandContext } from './command.ts'

/** What an author's prompt injects, beside what it must inject. */
export interface CaseVerdict {
  prompt: string
  ok: boolean
  expected: readonly string[]
  injected: readonly string[]
}

const mostBytes = 16 * 1024 * 1024

/** @throws SkillrailError when the file cannot be read. */
export function checkPrompts(
  { runtime }: CommandContext,
  path: string,
  files: readonly CheckedFile[],
): { verdicts: readonly CaseVerdict[]; diagnostics: readonly Diagnostic[] } {
  const reading = readRegularFile(resolve(runtime.cwd, path), { maxBytes: mostBytes })
  if (!reading.ok) throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
  const { cases, diagnostics } = readPromptCases(reading.text, path)
  return { verdicts: cases.map((promptCase) => verdictOn(promptCase, files)), diagnostics }
}

function verdictOn({ prompt, inject }: PromptCase, files: readonly CheckedFile[]): CaseVerdict {
  const { matches } = matchPrompt(
    prompt,
    files.map(({ skill }) => skill),
  )
  const { injected } = planInjection(matches)
  const isMet = injected.every(
    ({ skill, path }) => inject.includes(path) || inject.includes(`${skill}:${path}`),
  )
  const isComplete = inject.every((wanted) =>
    injected.some(({ skill, path }) => wanted === path || wanted === `${skill}:${path}`),
  )
  const paths = injected.map(({ skill, path }) => (files.length > 1 ? `${skill}:${path}` : path))
  return { prompt, ok: isMet && isComplete, expected: inject, injected: paths }
}

export function caseLines(verdicts: readonly CaseVerdict[] | undefined): string[] {
  if (verdicts === undefined) return []
  const lines = verdicts.flatMap(({ prompt, ok, expected, injected }) => {
    const head = safeLine(`${ok ? 'OK' : 'FAIL'} ${prompt.slice(0, 100)} -> ${list(injected)}`)
    return ok ? [head] : [head, safeLine(`Expected: ${list(expected)}`)]
  })
  const wrong = verdicts.filter(({ ok }) => !ok).length
  return [...lines, `${amount(verdicts.length, 'prompt')} checked, ${wrong} wrong`]
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? 'nothing' : paths.join(', ')
}
