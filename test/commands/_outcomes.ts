import { expect } from 'vitest'
import { commands, home } from '../../src/cli/registry.ts'
import type { Screen } from '../../src/core/command.ts'
import { type Scenario, type Step, stepsOf } from './_scenario.ts'

/**
 * Plays a scenario and compares how its commands end: `EXIT COMMAND LINE`, and after ` → ` the codes and the
 * values from fixed lists in the JSON. Every Result is also rendered from its JSON, because a rendering
 * uses nothing else.
 */
export async function expectOutcomes(
  play: (scenario: Scenario) => Promise<void>,
  outcomes: readonly string[],
): Promise<void> {
  const steps = await stepsOf(play)
  expect(await Promise.all(steps.map(outcomeOf))).toEqual(outcomes)
}

async function outcomeOf({ line, code, document }: Step): Promise<string> {
  const words = line.replace(/^.*?skillrail ?/, '')
  const codes = [...new Set(codesIn(document))].toSorted()
  const isResult = typeof document === 'object' && document !== null && !('error' in document)
  if (isResult) await expectRendering(words, document)
  const head = `${code} ${words.replace(' --json', '')}`
  return codes.length === 0 ? head : `${head} → ${codes.join(' ')}`
}

/** Members of a Result whose values are from a fixed list. */
const enumerations = new Set(
  'status state outcome action change decision was standing delivered evidence endReason decidedBy trust'.split(
    ' ',
  ),
)

/** The codes of the error and of all diagnostics, and the values from fixed lists, at any depth. */
function codesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const code = 'code' in value && 'message' in value ? [String(value.code)] : []
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
    enumerations.has(key) && typeof member === 'string' ? [`${key}=${member}`] : codesIn(member),
  )
  return [...code, ...members]
}

async function expectRendering(line: string, result: unknown): Promise<void> {
  const entry = [home, ...commands]
    .filter(({ name }) => `${line} `.startsWith(`${name} `))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  const command = await entry?.load()
  const text = command?.render(result, screen) ?? ''
  const notes = JSON.stringify(command?.notes?.(result, screen) ?? [])
  const broken = /\bundefined\b|\[object Object\]|\bNaN\b/.exec(`${text}${notes}`)?.[0]
  expect({ line, broken }).toEqual({ line, broken: undefined })
}

const screen: Screen = {
  isTerminal: false,
  width: Infinity,
  quiet: false,
  verbose: true,
  stdoutTaken: false,
  style: (_format, text) => text,
  asCalled: (text) => text,
  table: (rows) => rows.map((cells) => `${cells.join('  ')}\n`).join(''),
}
