import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasErrors } from '#core/errors'
import { isList, objectOf, parseJson, sha256 } from '#core/json'
import { findSecrets } from '#core/redact'
import { plainWords, stemOf } from '#rank/words'
import type { TriggerDeclaration } from '#skill/model'
import { frontmatterLines } from '#skill/frontmatter'
import type { TriggerSkill } from './match.ts'
import { judgeCase, measure, type Measurement, type PromptCase } from './prompt-cases.ts'
import { readTriggers } from './read-triggers.ts'

export interface Suggestion {
  skill: string
  /** How many prompts made the agent use the skill, and how many did not. */
  prompts: { used: number; others: number }
  /** The entries of `triggers`, as YAML; empty if there are too few prompts. */
  entries: string
  /**
   * Measured on prompts that did not influence the choice: `now` with the present triggers,
   * `suggested` with the new ones added.
   */
  heldOut?: { now: Measurement; suggested: Measurement } | undefined
}

const fewestPrompts = 4
const maxExamples = 5
const longestExample = 200
const longestPrompt = 2000

/** Proposes triggers for the first skill, which competes with the others. */
export function suggestTriggers(
  skills: readonly [TriggerSkill, ...TriggerSkill[]],
  turns: readonly TranscriptTurn[],
): Suggestion {
  const [skill, ...others] = skills
  const cases = labelledPrompts(skill, turns)
  const used = cases.filter(({ inject }) => inject)
  const prompts = { used: used.length, others: cases.length - used.length }
  if (used.length < fewestPrompts) return { skill: skill.name, prompts, entries: '' }
  // A prompt is always or never in this third, whatever the other prompts are.
  const isHeldOut = ({ prompt }: PromptCase) =>
    Number.parseInt(sha256(prompt).slice(-6), 16) % 3 === 0
  const heldOutCases = cases.filter(isHeldOut)
  const chosen = cases.filter((one) => !isHeldOut(one))
  const examples = chooseExamples(chosen.filter(({ inject }) => inject))
  const pattern = separatingPattern(chosen)
  const inject = referenceOf(skill, turns)
  const entries =
    (pattern === undefined ? '' : entry(`match: '${pattern}'`, inject)) +
    (examples.length === 0 ? '' : entry(`examples: ${JSON.stringify(examples)}`, inject))
  const { triggers: added } = readTriggers(`---\ntriggers:\n${entries}---\n`, skill.path)
  const measured = (triggers: readonly TriggerDeclaration[]) => {
    const all = [{ ...skill, triggers }, ...others]
    return measure(heldOutCases.map((one) => judgeCase(one, all, skill.name)))
  }
  const heldOut = {
    now: measured(skill.triggers),
    suggested: measured([...skill.triggers, ...added]),
  }
  return { skill: skill.name, prompts, entries, heldOut }
}

/**
 * Adds entries to the triggers of a SKILL.md; undefined if the triggers are written in a string
 * form.
 */
export function withTriggers(text: string, path: string, entries: string): string | undefined {
  const { lines, close } = frontmatterLines(text) ?? { lines: [], close: 0 }
  const start = lines.findIndex((line, at) => at < close && /^triggers:\s*$/.test(line))
  const place = start < 0 ? close : start + 1
  const added = `${start < 0 ? 'triggers:\n' : ''}${entries}`.trimEnd()
  const changed = lines.toSpliced(place, 0, ...added.split('\n')).join('\n')
  const count = (all: string) => readTriggers(all, path).triggers.length
  return count(changed) > count(text) && !hasErrors(readTriggers(changed, path).diagnostics)
    ? changed
    : undefined
}

/**
 * Returns each prompt once. Excludes calls by name, which say nothing about meaning, and secrets.
 */
function labelledPrompts({ name, directory }: TriggerSkill, turns: readonly TranscriptTurn[]) {
  const place = `/${basename(directory)}/`
  const cases = new Map<string, LabelledPrompt>()
  for (const { prompt: rawPrompt, skills, calls } of turns) {
    const prompt = rawPrompt.trim()
    const isTyped = prompt !== '' && prompt.length <= longestPrompt && !/^[/$<]/.test(prompt)
    if (!isTyped || findSecrets(prompt).length > 0) continue
    const key = plainWords(prompt).join(' ')
    const isUsed = skills.includes(name) || calls.some((call) => call.includes(place))
    cases.set(key, { prompt, inject: isUsed || cases.get(key)?.inject === true })
  }
  return [...cases.values()].toSorted((a, b) => (a.prompt < b.prompt ? -1 : 1))
}

type LabelledPrompt = PromptCase & { inject: boolean }

/** Chooses the prompts that add most words to the ones chosen before. */
function chooseExamples(used: readonly PromptCase[]): string[] {
  const left = used.flatMap(({ prompt }) => {
    const isShort = prompt.length <= longestExample && !prompt.includes('\n')
    return isShort ? [{ prompt, stems: new Set(plainWords(prompt).map(stemOf)) }] : []
  })
  const chosen: string[] = []
  const coveredStems = new Set<string>()
  while (left.length > 0 && chosen.length < maxExamples) {
    const news = left.map(
      ({ stems }) => [...stems].filter((stem) => !coveredStems.has(stem)).length,
    )
    const [best] = left.splice(news.indexOf(Math.max(...news)), 1)
    if (!best) break
    chosen.push(best.prompt)
    for (const stem of best.stems) coveredStems.add(stem)
  }
  return chosen
}

/**
 * Finds a word that occurs in at least half of the prompts that used the skill, in at least five,
 * and in no other prompt.
 */
function separatingPattern(cases: readonly LabelledPrompt[]): string | undefined {
  const used = cases.filter(({ inject }) => inject)
  const others = cases.filter(({ inject }) => !inject)
  // Without other prompts every word would separate.
  if (others.length < used.length) return undefined
  const foreign = new Set(others.flatMap(({ prompt }) => plainWords(prompt)))
  const isOwn = (word: string) => /^[a-z]{4,}$/.test(word) && !foreign.has(word)
  const words = used.flatMap(({ prompt }) => [...new Set(plainWords(prompt))].filter(isOwn))
  const { text, count } = maxFrequent(words)
  if (count < Math.max(5, used.length / 2)) return undefined
  const [first = '', ...rest] = text
  return `(^| )[${first.toUpperCase()}${first}]${rest.join('')}( |$)`
}

function maxFrequent(texts: readonly string[]): { text: string; count: number } {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const [[text, count] = ['', 0]] = [...counts].toSorted(
    ([a, m], [b, n]) => n - m || (a < b ? -1 : 1),
  )
  return { text, count }
}

/** Returns the skill's file that was read most often, except `SKILL.md`. */
function referenceOf({ directory }: TriggerSkill, turns: readonly TranscriptTurn[]): string {
  const place = `/${basename(directory)}/`
  const paths = turns
    .flatMap(({ calls }) => calls)
    .flatMap((call) => {
      const [path = ''] = /^[\w./-]+/.exec(call.split(place)[1] ?? '') ?? []
      const isReference = path !== 'SKILL.md' && !path.includes('..') && path.endsWith('.md')
      return isReference && existsSync(join(directory, path)) ? [path] : []
    })
  return maxFrequent(paths).text || 'SKILL.md'
}

function entry(occasion: string, inject: string): string {
  return `  - ${occasion}\n    inject: ${JSON.stringify(inject)}\n`
}

/** A prompt that a user typed, and what the agent did before the next one. */
export interface TranscriptTurn {
  prompt: string
  skills: string[]
  /** The input of each call as JSON. */
  calls: string[]
}

const longestCall = 10_000

/**
 * Reads a transcript of Claude Code or Codex: JSON lines; unknown lines are skipped. Never throws.
 *
 * @returns `broken`: lines that are not JSON objects.
 */
export function readTranscript(text: string): { turns: TranscriptTurn[]; broken: number } {
  const turns: TranscriptTurn[] = []
  let broken = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const { type, payload, ...entry } = objectOf(parseJson(line))
    if (type === undefined) broken++
    if (type === 'event_msg' || type === 'response_item') readCodex(objectOf(payload), turns)
    if (entry['isSidechain'] === true || entry['isMeta'] === true) continue
    const { content } = objectOf(entry['message'])
    const parts = isList(content) ? content.map(objectOf) : []
    if (type === 'user') {
      const text = parts.find((part) => part['type'] === 'text')?.['text']
      addPrompt(turns, typeof content === 'string' ? content : text)
    }
    for (const part of type === 'assistant' ? parts : []) {
      if (part['type'] === 'tool_use') addCall(turns.at(-1), part['name'], part['input'])
    }
  }
  return { turns, broken }
}

/** Since 2026 a prompt is an item; before, it was a message. */
function readCodex(payload: Readonly<Record<string, unknown>>, turns: TranscriptTurn[]): void {
  const { type } = payload
  const item = objectOf(payload['item'])
  if (type === 'user_message') addPrompt(turns, payload['message'])
  else if (type === 'item_completed' && item['type'] === 'UserMessage') {
    const parts = isList(item['content']) ? item['content'].map(objectOf) : []
    addPrompt(turns, parts.find((part) => part['type'] === 'text')?.['text'])
  } else if (type === 'function_call' || type === 'custom_tool_call') {
    addCall(turns.at(-1), payload['name'], payload['arguments'] ?? payload['input'])
  }
}

function addPrompt(turns: TranscriptTurn[], prompt: unknown): void {
  if (typeof prompt === 'string') turns.push({ prompt, skills: [], calls: [] })
}

function addCall(turn: TranscriptTurn | undefined, name: unknown, input: unknown): void {
  if (!turn) return
  const { skill } = objectOf(input)
  if (typeof name === 'string' && name.toLowerCase() === 'skill' && typeof skill === 'string') {
    turn.skills.push(skill)
  }
  turn.calls.push((JSON.stringify(input) ?? '').slice(0, longestCall))
}
