import { posix } from 'node:path'
import { safeLine, safeText } from '../core/text.ts'
import type { Findings, FoundPlace, OtherSkill } from './findings.ts'
import type { TreeEntry } from './read-tree.ts'

/** The names of installed skills, by what those that are taken for one another have in common. */
export class KnownNames {
  readonly #bySkeleton = new Map<string, OtherSkill[]>()
  /** By the name and every name with one letter less: names one letter apart share one of them. */
  readonly #byVariant = new Map<string, OtherSkill[]>()

  constructor(skills: readonly OtherSkill[]) {
    for (const skill of skills) {
      add(this.#bySkeleton, skeletonOf(skill.name), skill)
      for (const variant of variantsOf(skill.name)) add(this.#byVariant, variant, skill)
    }
  }

  /** One skill for each name that is like this one; those in its own directory are left out. */
  like(name: string, directory: string): OtherSkill[] {
    const alike = this.#bySkeleton.get(skeletonOf(name)) ?? []
    const near = variantsOf(name).flatMap((variant) => this.#byVariant.get(variant) ?? [])
    const others = [...alike, ...near.filter((other) => isNear(name, other.name))]
    const found = new Map<string, OtherSkill>()
    for (const other of others) {
      const isOther = other.name !== name && other.directory !== directory
      if (isOther && !found.has(other.name)) found.set(other.name, other)
    }
    return [...found.values()]
  }
}

function add(map: Map<string, OtherSkill[]>, key: string, skill: OtherSkill): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [skill])
  else known.push(skill)
}

/** Digits tell versions apart, so no name lacks one. */
function variantsOf(name: string): string[] {
  if (name.length < shortestNear) return [name]
  const letters = name.matchAll(/\D/g)
  return [name, ...Array.from(letters, ({ index: at }) => name.slice(0, at) + name.slice(at + 1))]
}

export function checkSkillName(
  name: string,
  place: FoundPlace,
  { known, directory: own }: { known: KnownNames; directory: string },
  findings: Findings,
): void {
  checkScripts(name, place, findings)
  const skeleton = skeletonOf(name)
  for (const { name: other, directory } of known.like(name, own)) {
    const isAlike = skeletonOf(other) === skeleton
    const how = isAlike ? 'looks like' : 'is one letter away from'
    const message = `${how} ${other}, which is in ${directory}`
    findings.add(isAlike ? 'name-imitates' : 'name-near', place, message, { subject: other })
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

/** A name with each letter replaced by the one it is taken for: a small part of Unicode's confusables. */
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

/** Each group: a letter of ASCII, and those that are taken for it. */
const groups =
  'aаɑα bьᏏ cсϲᴄ dԁɗ eеҽєε fſƒք gɡց hһհ iіıɩι jјϳ kкκ l1|ӏⅼǀ mмⅿ ' +
  'nոռп o0оοσօ pрρ qԛգ rгᴦ sѕꜱ tтτ uսυʋ vѵν wԝաωѡ xхχ yуүγყ zᴢʐ -‐‑‒–—―−_'

const lookalikes: ReadonlyMap<string, string> = new Map(
  groups.split(' ').flatMap((group) => {
    const [letter = '', ...others] = group
    return others.map((other) => [other, letter] as const)
  }),
)

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
      const message = `${name} stands beside ${other}; clients read different ones`
      findings.add('skill-file-twice', { file: path }, message)
    } else {
      findings.add('file-name-case', { file: path }, `differs from ${other} only in form`)
    }
  }
}

function checkName(path: string, name: string, findings: Findings): void {
  const place = { file: path }
  if (safeText(name) !== name || /[\n\t]/.test(name) || name.includes('\ufffd')) {
    const message = `the name is ${JSON.stringify(safeLine(name))} once everything in it is shown`
    findings.add('file-name-hidden', place, message)
  }
  checkScripts(name, place, findings)
  if (/[\\:*?"<>|]/.test(name) || /^\s|[\s.]$/.test(name) || reserved.test(name)) {
    const message = `${name} is not a name, or another one, on Windows`
    findings.add('file-name-system', place, message)
  }
}

const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i

const alike = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
] as const

/** Reports the first word of a name whose letters come from several scripts that look alike. */
function checkScripts(name: string, place: FoundPlace, findings: Findings): void {
  for (const word of name.split(/[^\p{Letter}\p{Mark}]/u)) {
    const scripts = alike.filter(([, pattern]) => pattern.test(word)).map(([script]) => script)
    if (scripts.length < 2) continue
    findings.add('name-mixed-scripts', place, `${word} has letters of ${scripts.join(' and ')}`)
    return
  }
}
