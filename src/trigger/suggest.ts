import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasErrors } from '../core/diagnostic.ts'
import { sha256 } from '../core/json.ts'
import { findSecrets } from '../core/redact.ts'
import { plainWords, stemOf } from '../rank/words.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import { splitFrontmatter } from '../skill/frontmatter.ts'
import type { TriggerSkill } from './match.ts'
import { judgeCase, measure, type PromptCase } from './prompt-cases.ts'
import { readTriggers } from './read-triggers.ts'
import type { TranscriptTurn } from './transcripts.ts'

export interface Suggestion {
  skill: string
  /** Prompts after which the agent used the skill, and all the others. */
  prompts: { used: number; others: number }
  /** The entries of `triggers`, as YAML; none where there are too few prompts. */
  entries: string
  /** On prompts that nothing was chosen by: a third of them, with the triggers of now and the new ones. */
  heldOut?: { now: ReturnType<typeof measure>; suggested: ReturnType<typeof measure> } | undefined
}

const fewestPrompts = 4
const mostExamples = 5
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
  // The same third each time, whatever the other prompts are.
  const isHeldOut = ({ prompt }: PromptCase): boolean =>
    Number.parseInt(sha256(prompt).slice(-6), 16) % 3 === 0
  const held = cases.filter(isHeldOut)
  const chosen = cases.filter((one) => !isHeldOut(one))
  const examples = chooseExamples(chosen.filter(({ inject }) => inject))
  const pattern = separatingPattern(chosen)
  const inject = referenceOf(skill, turns)
  const entries =
    (pattern === undefined ? '' : entry(`match: '${pattern}'`, inject)) +
    (examples.length === 0 ? '' : entry(`examples: [${examples.map(quoted).join(', ')}]`, inject))
  const { triggers: added } = readTriggers(`---\ntriggers:\n${entries}---\n`, skill.path)
  const measured = (triggers: readonly TriggerDeclaration[]) => {
    const all = [{ ...skill, triggers }, ...others]
    return measure(held.map((one) => judgeCase(one, all, skill.name)))
  }
  const heldOut = {
    now: measured(skill.triggers),
    suggested: measured([...skill.triggers, ...added]),
  }
  return { skill: skill.name, prompts, entries, heldOut }
}

/** Adds entries to the triggers of a SKILL.md; undefined where they are written in a string form. */
export function withTriggers(text: string, path: string, entries: string): string | undefined {
  const split = splitFrontmatter(text)
  if (!split.found) return undefined
  const lines = text.split('\n')
  const end = split.firstLine - 1 + split.source.trimEnd().split('\n').length
  const start = lines.findIndex((line, at) => at < end && /^triggers:\s*$/.test(line))
  const next = lines.findIndex((line, at) => at > start && at < end && /^[^\s#-]/.test(line))
  const place = start < 0 || next < 0 ? end : next
  const added = `${start < 0 ? 'triggers:\n' : ''}${entries}`.trimEnd()
  const changed = lines.toSpliced(place, 0, ...added.split('\n')).join('\n')
  const count = (all: string): number => readTriggers(all, path).triggers.length
  return count(changed) > count(text) && !hasErrors(readTriggers(changed, path).diagnostics)
    ? changed
    : undefined
}

/** Each prompt once. A call by name says nothing about what prompts mean, and a secret is not repeated. */
function labelledPrompts({ name, directory }: TriggerSkill, turns: readonly TranscriptTurn[]) {
  const place = `/${basename(directory)}/`
  const cases = new Map<string, LabelledPrompt>()
  for (const { prompt: typed, skills, calls } of turns) {
    const prompt = typed.trim()
    const isTyped = prompt !== '' && prompt.length <= longestPrompt && !/^[/$<]/.test(prompt)
    if (!isTyped || findSecrets(prompt).length > 0) continue
    const key = plainWords(prompt).join(' ')
    const isUsed = skills.includes(name) || calls.some((call) => call.includes(place))
    cases.set(key, { prompt, inject: isUsed || cases.get(key)?.inject === true })
  }
  return [...cases.values()].toSorted((a, b) => (a.prompt < b.prompt ? -1 : 1))
}

type LabelledPrompt = PromptCase & { inject: boolean }

/** The prompts that say most of what the ones before do not say. */
function chooseExamples(used: readonly PromptCase[]): string[] {
  const left = used.flatMap(({ prompt }) => {
    const isShort = prompt.length <= longestExample && !prompt.includes('\n')
    return isShort ? [{ prompt, stems: new Set(plainWords(prompt).map(stemOf)) }] : []
  })
  const chosen: string[] = []
  const said = new Set<string>()
  while (left.length > 0 && chosen.length < mostExamples) {
    const news = left.map(({ stems }) => [...stems].filter((stem) => !said.has(stem)).length)
    const [best] = left.splice(news.indexOf(Math.max(...news)), 1)
    if (best === undefined) break
    chosen.push(best.prompt)
    for (const stem of best.stems) said.add(stem)
  }
  return chosen
}

/** A word of at least half of the prompts that used the skill, and of five, and of no other prompt. */
function separatingPattern(cases: readonly LabelledPrompt[]): string | undefined {
  const used = cases.filter(({ inject }) => inject)
  const others = cases.filter(({ inject }) => !inject)
  // Without other prompts every word would separate.
  if (others.length < used.length) return undefined
  const foreign = new Set(others.flatMap(({ prompt }) => plainWords(prompt)))
  const counts = new Map<string, number>()
  for (const { prompt } of used) {
    for (const word of new Set(plainWords(prompt))) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const least = Math.max(5, used.length / 2)
  const isOwn = (word: string): boolean => /^[a-z]{4,}$/.test(word) && !foreign.has(word)
  const [best] = [...counts]
    .filter(([word, count]) => isOwn(word) && count >= least)
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  if (best === undefined) return undefined
  const [first = '', ...rest] = best[0]
  return `(^| )[${first.toUpperCase()}${first}]${rest.join('')}( |$)`
}

/** The file of the skill that was read most often, `SKILL.md` aside. */
function referenceOf({ directory }: TriggerSkill, turns: readonly TranscriptTurn[]): string {
  const counts = new Map<string, number>()
  const place = `/${basename(directory)}/`
  for (const call of turns.flatMap(({ calls }) => calls)) {
    const [path = ''] = /^[\w./-]+/.exec(call.split(place)[1] ?? '') ?? []
    const isReference = path !== 'SKILL.md' && !path.includes('..') && path.endsWith('.md')
    if (isReference && existsSync(join(directory, path)))
      counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return most?.[0] ?? 'SKILL.md'
}

function entry(occasion: string, inject: string): string {
  return `  - ${occasion}\n    inject: ${quoted(inject)}\n`
}

/** A JSON string is a YAML one. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : JSON.stringify(text)
}
