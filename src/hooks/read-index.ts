import {
  currentStamp,
  existenceStamp,
  indexEnd,
  type IndexedTrigger,
  type IndexHead,
  indexTitle,
  type TrustMark,
} from './index-format.ts'
import { readIndexedTrigger } from './_indexed-trigger.ts'

/** A skill of the index whose triggers are read only when it is asked for them. */
export interface IndexedSkill {
  name: string
  /** The `SKILL.md`. */
  path: string
  trust: TrustMark
}

export interface HookIndex {
  head: IndexHead
  /** The path of the skill of a name; undefined where there is none. */
  pathOf(name: string): string | undefined
  /**
   * Calls `visit` for every trigger whose literal passes `isPossible`, in order of precedence.
   * Throws where a line is not what was written.
   */
  triggers(
    isPossible: (literal: string) => boolean,
    visit: (skill: IndexedSkill, trigger: IndexedTrigger) => void,
  ): void
}

/**
 * Opens the text of an index and compares everything in it with the disk. Undefined where it is
 * broken, of another version, for something else, or where anything has changed.
 */
export function readIndex(text: string, key: string): HookIndex | undefined {
  const lines = text.split('\n')
  if (lines[0] !== indexTitle || lines.at(-2) !== indexEnd) return undefined
  const head = readHead(lines[1] ?? '')
  if (head === undefined || head.key !== key || !head.settled) return undefined
  for (const line of lines) if (!isCurrent(line)) return undefined
  return openLines(lines, head)
}

/** The same for a text that was made this moment. */
export function openIndex(text: string): HookIndex {
  const lines = text.split('\n')
  const head = readHead(lines[1] ?? '')
  if (head === undefined) throw new TypeError('the index has no head')
  return openLines(lines, head)
}

function openLines(lines: readonly string[], head: IndexHead): HookIndex {
  return {
    head,
    pathOf(name) {
      const end = `\t${name}`
      const line = lines.find((line) => line.startsWith('S') && line.endsWith(end))
      return line?.slice(1, line.indexOf('\t'))
    },
    triggers(isPossible, visit) {
      let skillLine = ''
      let skill: IndexedSkill | undefined
      for (const line of lines) {
        const kind = line.charCodeAt(0)
        if (kind === letter.skill) {
          skillLine = line
          skill = undefined
        } else if (kind === letter.trigger) {
          const tab = line.indexOf('\t')
          if (!isPossible(line.slice(1, tab))) continue
          skill ??= readSkill(skillLine)
          visit(skill, readIndexedTrigger(line.slice(tab + 1)))
        }
      }
    },
  }
}

const letter = { skill: 83, trigger: 84, path: 80, existence: 69 }

function isCurrent(line: string): boolean {
  const kind = line.charCodeAt(0)
  if (kind === letter.trigger) return true
  const tab = line.indexOf('\t')
  if (kind === letter.skill) {
    const end = line.indexOf('\t', tab + 1)
    return line.slice(tab + 1, end) === currentStamp(line.slice(1, tab))
  }
  if (kind === letter.path) return line.slice(tab + 1) === currentStamp(line.slice(1, tab))
  if (kind === letter.existence) return line.slice(tab + 1) === existenceStamp(line.slice(1, tab))
  return true
}

function readSkill(line: string): IndexedSkill {
  const [path = '', , mark = '', name = ''] = line.slice(1).split('\t')
  const trust = mark === '+' || mark === '?' ? mark : '-'
  return { name, path, trust }
}

function readHead(line: string): IndexHead | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return undefined
    if (!('key' in value) || typeof value.key !== 'string') return undefined
    const settled = 'settled' in value && value.settled === true
    const repeat = 'repeat' in value && value.repeat === 'session' ? 'session' : 'prompt'
    return { key: value.key, settled, repeat }
  } catch {
    return undefined
  }
}
