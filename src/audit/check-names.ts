import { posix } from 'node:path'
import { editDistance, safeLine, safeText } from '#core/text'
import type { Findings, FindingPlace, OtherSkill } from './findings.ts'
import type { TreeEntry } from './read-tree.ts'

/** Finds installed skills by name. Names that are easily confused share a key. */
export class InstalledNames {
  readonly #byKey: ReadonlyMap<string, { skill: OtherSkill }[]>

  constructor(skills: readonly OtherSkill[]) {
    const entries = skills.flatMap((skill) => keysOf(skill.name).map((key) => ({ key, skill })))
    this.#byKey = Map.groupBy(entries, ({ key }) => key)
  }

  /** Returns one skill for each name that is like this one, except skills in the same directory. */
  like(name: string, directory: string): OtherSkill[] {
    const similar = new Map<string, OtherSkill>()
    for (const { skill } of keysOf(name).flatMap((key) => this.#byKey.get(key) ?? [])) {
      const isOther = skill.name !== name && skill.directory !== directory
      const isLike =
        isOther &&
        !similar.has(skill.name) &&
        (isAlike(name, skill.name) || isNear(name, skill.name))
      if (isLike) similar.set(skill.name, skill)
    }
    return [...similar.values()]
  }
}

/**
 * Names that look alike share the first key; names one letter apart share a key without that
 * letter.
 */
function keysOf(name: string): string[] {
  const isUsual = name.length >= shortestNear && name.length <= longestNear
  const letters = isUsual ? [...name.matchAll(/\D/g)] : []
  const variants = letters.map(({ index: at }) => name.slice(0, at) + name.slice(at + 1))
  return [`=${skeletonOf(name)}`, name, ...variants]
}

function isAlike(a: string, b: string): boolean {
  return skeletonOf(a) === skeletonOf(b)
}

export function checkSkillName(
  name: string,
  place: FindingPlace,
  { installed, directory: ownDirectory }: { installed: InstalledNames; directory: string },
  findings: Findings,
): void {
  checkScripts(name, place, findings)
  for (const { name: other, directory } of installed.like(name, ownDirectory)) {
    const imitates = isAlike(name, other)
    const relation = imitates ? 'looks like' : 'is one letter away from'
    const message = `${relation} ${other}, which is in ${directory}`
    findings.add(imitates ? 'name-imitates' : 'name-near', place, message, { subject: other })
  }
}

/** Shorter names are one letter apart by chance, and numbers tell versions apart. */
const shortestNear = 5

/** Longer names are invalid, and each letter of a name costs a copy of it. */
const longestNear = 100

/** Whether one insertion, deletion, replacement or swap of letters makes one name the other. */
function isNear(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < shortestNear || editDistance(a, b) > 1) return false
  return a.replaceAll(/\D/g, '') === b.replaceAll(/\D/g, '')
}

/**
 * Replaces each letter of a name by the one it resembles: a small part of Unicode's confusables.
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

/** Each group: an ASCII letter, and the letters that resemble it. */
const groups =
  'aаɑα bьᏏ cсϲᴄ dԁɗ eеҽєε fſƒք gɡց hһհ iіıɩι jјϳ kкκ l1|ӏⅼǀ mмⅿ ' +
  'nոռп o0оοσօ pрρ qԛգ rгᴦ sѕꜱ tтτ uսυʋ vѵν wԝաωѡ xхχ yуүγყ zᴢʐ -‐‑‒–—―−_'

const lookalikes: ReadonlyMap<string, string> = new Map(
  groups.split(' ').flatMap((group) => {
    const [letter = '', ...lookalikes] = group
    return lookalikes.map((other) => [other, letter] as const)
  }),
)

export function checkFileNames(entries: readonly TreeEntry[], findings: Findings): void {
  const skillFiles = new Map<string, string>()
  for (const { path } of entries) {
    const name = posix.basename(path)
    const place = { file: path }
    if (safeText(name) !== name || /[\n\t]/.test(name) || name.includes('\ufffd')) {
      const message = `the name is ${JSON.stringify(safeLine(name))} once everything in it is shown`
      findings.add('file-name-hidden', place, message)
    }
    checkScripts(name, place, findings)
    if (!/^skill\.md$/i.test(name.normalize('NFKC'))) continue
    const directory = posix.dirname(path)
    const otherName = skillFiles.get(directory)
    skillFiles.set(directory, otherName ?? name)
    if (otherName === undefined) continue
    const message = `${name} is next to ${otherName}; clients read different ones`
    findings.add('skill-file-twice', place, message)
  }
}

const alike = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
] as const

/** Reports the first word of a name whose letters come from several scripts that look alike. */
function checkScripts(name: string, place: FindingPlace, findings: Findings): void {
  for (const word of name.split(/[^\p{Letter}\p{Mark}]/u)) {
    const scripts = alike.filter(([, pattern]) => pattern.test(word)).map(([script]) => script)
    if (scripts.length < 2) continue
    findings.add('name-mixed-scripts', place, `${word} has letters of ${scripts.join(' and ')}`)
    return
  }
}
