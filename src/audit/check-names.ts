import { posix } from 'node:path'
import { safeLine, safeText } from '../core/text.ts'
import type { AuditedText, Findings, FoundPlace, OtherSkill } from './findings.ts'
import type { TreeEntry } from './read-tree.ts'

/** Whether a skill's name can be taken for another one's. */
export function checkSkillName(
  name: string,
  place: FoundPlace,
  others: readonly OtherSkill[],
  findings: Findings,
): void {
  const mixed = mixedScripts(name)
  if (mixed !== undefined) {
    const message = `${safeLine(mixed.word)} has letters of ${mixed.scripts.join(' and ')}`
    findings.add('name-mixed-scripts', place, message)
  }
  const skeleton = skeletonOf(name)
  const seen = new Set([name])
  for (const { name: other, directory } of others) {
    if (seen.has(other)) continue
    seen.add(other)
    const subject = safeLine(other)
    if (skeletonOf(other) === skeleton) {
      const message = `looks like ${subject}, which is in ${safeLine(directory)}`
      findings.add('name-imitates', place, message, { subject })
    } else if (isNear(name, other)) {
      const message = `is one letter away from ${subject}, which is in ${safeLine(directory)}`
      findings.add('name-near', place, message, { subject })
    }
  }
}

/** Shorter names are one letter apart by chance, and numbers tell versions apart. */
const shortestNear = 5

/** Whether one insertion, deletion, replacement or swap of letters makes one name the other. */
function isNear(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < shortestNear || Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (/\d/.test(left + right)) return false
  const isSwap = left.length === 2 && left[0] === right[1] && left[1] === right[0]
  return isSwap || (left.length <= 1 && right.length <= 1)
}

/**
 * A name with every letter replaced by the one it is taken for. Two names with one skeleton look
 * alike. A small part of Unicode's confusables: what imitates the letters, digits and hyphens that
 * names of skills consist of.
 */
function skeletonOf(name: string): string {
  const latin = /^[a-z0-9-]*$/.test(name)
    ? name.replaceAll('0', 'o').replaceAll('1', 'l')
    : latinOf(name)
  return latin.replaceAll('rn', 'm').replaceAll('vv', 'w')
}

function latinOf(name: string): string {
  return Array.from(
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{Mark}|\p{Default_Ignorable_Code_Point}/gu, ''),
    (letter) => lookalikes.get(letter) ?? letter,
  ).join('')
}

/** For each letter what looks like it; Cyrillic, Greek, Armenian, Cherokee and others. */
const table: Readonly<Record<string, string>> = {
  a: 'аɑα',
  b: 'ьᏏ',
  c: 'сϲᴄ',
  d: 'ԁɗ',
  e: 'еҽєε',
  f: 'ſƒք',
  g: 'ɡց',
  h: 'һհ',
  i: 'іıɩι',
  j: 'јϳ',
  k: 'кκ',
  l: '1|ӏⅼǀ',
  m: 'мⅿ',
  n: 'ոռп',
  o: '0оοσօ',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'սυʋ',
  v: 'ѵν',
  w: 'ԝաωѡ',
  x: 'хχ',
  y: 'уүγყ',
  z: 'ᴢʐ',
  '-': '‐‑‒–—―−_',
}

const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries(table).flatMap(([letter, others]) =>
    Array.from(others, (other) => [other, letter] as const),
  ),
)

/** Names that hide something, that differ only for some systems, or that some cannot have. */
export function checkFileNames(entries: readonly TreeEntry[], findings: Findings): void {
  const folded = new Map<string, string>()
  for (const { path } of entries) {
    const name = posix.basename(path)
    checkName(path, name, findings)
    const directory = posix.dirname(path)
    const key = `${directory}/${name.normalize('NFKC').toLowerCase()}`
    const other = folded.get(key)
    if (other === undefined) folded.set(key, name)
    else if (key.endsWith('/skill.md')) {
      const message = `${safeLine(name)} stands beside ${safeLine(other)}; clients read different ones`
      findings.add('skill-file-twice', { file: path }, message)
    } else {
      findings.add('file-name-case', { file: path }, `differs from ${safeLine(other)} only in form`)
    }
  }
}

function checkName(path: string, name: string, findings: Findings): void {
  const place = { file: path }
  if (safeText(name) !== name || /[\n\t]/.test(name) || name.includes('\ufffd')) {
    const message = `the name is ${JSON.stringify(safeLine(name))} once everything in it is shown`
    findings.add('file-name-hidden', place, message)
  }
  const mixed = mixedScripts(name)
  if (mixed !== undefined) {
    const message = `${safeLine(mixed.word)} has letters of ${mixed.scripts.join(' and ')}`
    findings.add('name-mixed-scripts', place, message)
  }
  if (/[\\:*?"<>|]/.test(name) || /^\s|[\s.]$/.test(name) || reserved.test(name)) {
    const message = `${safeLine(name)} is not a name, or another one, on Windows`
    findings.add('file-name-system', place, message)
  }
}

const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i

const farColumns = 500
const farLines = 200

/** Text that a reader does not reach: behind many blanks, or below many empty lines. */
export function checkLayout({ file, text, placeOf }: AuditedText, findings: Findings): void {
  let blanks = 0
  let empty = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10) {
      empty++
      blanks = 0
    } else if (code === 32 || code === 9 || code === 13 || code === 0xa0) {
      blanks++
    } else {
      const lines = empty - 1
      if (blanks >= farColumns || lines >= farLines) {
        const message = blanks >= farColumns ? `${blanks} blanks` : `${lines} empty lines`
        findings.add('text-pushed-aside', { file, ...placeOf(at) }, `stands behind ${message}`)
      }
      blanks = 0
      empty = 0
    }
  }
}

/** A word with letters that belong to different scripts. */
interface MixedWord {
  word: string
  scripts: readonly string[]
}

/** Scripts whose letters are taken for one another. Others mix in ordinary names. */
const alike = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
] as const

/** The first word of a name whose letters come from several scripts that look alike. */
function mixedScripts(name: string): MixedWord | undefined {
  if (/^[\0-\x7f]*$/.test(name)) return undefined
  for (const word of name.split(/[^\p{Letter}\p{Mark}]/u)) {
    const scripts = alike.filter(([, pattern]) => pattern.test(word)).map(([script]) => script)
    if (scripts.length > 1) return { word, scripts }
  }
  return undefined
}
