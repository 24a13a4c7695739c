import type { Diagnostic } from '../core/diagnostic.ts'
import { readRegularFile } from '../core/read-files.ts'
import { mayShadow } from '../trust/decide.ts'
import { maxSkillBytes, type SkillInfo } from './model.ts'

/** A skill that competes for its name. */
export interface Candidate {
  info: SkillInfo
  /** Two candidates of equal place have equal rank. */
  place: string
}

/** Whether two `SKILL.md` files say the same; asked only where two names meet. */
type SameContent = (a: SkillInfo, b: SkillInfo) => boolean

interface ResolvedNames {
  skills: SkillInfo[]
  shadowed: SkillInfo[]
  conflicts: SkillInfo[]
}

/**
 * Decides who has each name. Candidates come in order of precedence. The first one takes precedence, except
 * that an untrusted skill never hides a trusted one; two different ones in one place are a conflict
 * and neither takes precedence. One real directory counts once.
 */
export function resolveNames(
  candidates: readonly Candidate[],
  sameContent: SameContent,
): ResolvedNames {
  const losers: Losers = { shadowed: [], conflicts: [] }
  const rivalsOf = rivalsByName(candidates)
  const winners = new Map<SkillInfo, SkillInfo>()
  for (const rivals of rivalsOf.values()) settle(distinct(rivals), { winners, losers, sameContent })
  const skills: SkillInfo[] = []
  for (const { info } of candidates) {
    const isContested = rivalsOf.size > 0 && rivalsOf.has(info.name)
    const winner = isContested ? winners.get(info) : info
    if (winner !== undefined) skills.push(winner)
  }
  return { ...losers, skills: withCaseWarnings(skills) }
}

type Losers = Omit<ResolvedNames, 'skills'>

/** Only the names that more than one candidate has. */
function rivalsByName(candidates: readonly Candidate[]): ReadonlyMap<string, Candidate[]> {
  const first = new Map<string, Candidate>()
  const rivals = new Map<string, Candidate[]>()
  if (isAscending(candidates)) return rivals
  for (const candidate of candidates) {
    const { name } = candidate.info
    const earlier = first.get(name)
    const others = rivals.get(name)
    if (earlier === undefined) first.set(name, candidate)
    else if (others === undefined) rivals.set(name, [earlier, candidate])
    else others.push(candidate)
  }
  return rivals
}

/** Names that only ever grow cannot meet: the usual case, and much cheaper than a table of names. */
function isAscending(candidates: readonly Candidate[]): boolean {
  let last = ''
  return candidates.every(({ info }) => {
    const grows = info.name > last
    last = info.name
    return grows
  })
}

/** Trusted ones before untrusted ones, otherwise in the given order; each real directory once. */
function distinct(rivals: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return byTrust(rivals).filter(({ info }) => {
    if (info.realDirectory === '') return true
    const known = seen.has(info.realDirectory)
    seen.add(info.realDirectory)
    return !known
  })
}

function byTrust(rivals: readonly Candidate[]): Candidate[] {
  return rivals.toSorted(({ info: { trustLevel: a } }, { info: { trustLevel: b } }) =>
    a === b ? 0 : mayShadow(a, b) ? -1 : 1,
  )
}

interface Settlement {
  /** From what was found to the same with what it hides. */
  winners: Map<SkillInfo, SkillInfo>
  losers: Losers
  sameContent: SameContent
}

function settle(rivals: readonly Candidate[], { winners, losers, sameContent }: Settlement): void {
  const [winner, ...others] = rivals
  if (winner === undefined) return
  const isOpponent = ({ info, place }: Candidate): boolean =>
    place === winner.place &&
    mayShadow(info.trustLevel, winner.info.trustLevel) &&
    !sameContent(info, winner.info)
  const opponents = new Set(others.filter(isOpponent))
  const hidden = infosOf(others.filter((other) => !opponents.has(other)))
  losers.shadowed.push(...hidden)
  if (opponents.size === 0) {
    winners.set(winner.info, { ...winner.info, shadows: hidden.map(({ path }) => path) })
    return
  }
  const contested = infosOf([winner, ...opponents])
  for (const info of contested) {
    const finding = conflictDiagnostic(info, contested)
    losers.conflicts.push({ ...info, diagnostics: [...info.diagnostics, finding] })
  }
}

function infosOf(candidates: readonly Candidate[]): SkillInfo[] {
  return candidates.map(({ info }) => info)
}

function conflictDiagnostic(info: SkillInfo, contested: readonly SkillInfo[]): Diagnostic {
  const few = contested.slice(0, 4).filter((other) => other !== info)
  const others = few.map(({ path }) => path).join(', ')
  const more = contested.length - few.length - 1
  return {
    code: 'skill-conflict',
    severity: 'error',
    message: `${others}${more > 0 ? ` and ${more} more` : ''} in the same place has the name ${info.name} too; none of them can be used by that name`,
    path: info.path,
    hint: 'Rename one of them, or remove it.',
  }
}

/** Some clients fold the case of names, and some file systems do: there only one of them is left. */
function withCaseWarnings(skills: SkillInfo[]): SkillInfo[] {
  if (skills.every(({ name }) => name === name.toLowerCase())) return skills
  const folded = new Map<string, SkillInfo>()
  const twins = new Map<SkillInfo, SkillInfo>()
  for (const info of skills) {
    const key = info.name.toLowerCase()
    const twin = folded.get(key)
    if (twin === undefined) folded.set(key, info)
    else twins.set(info, twin).set(twin, info)
  }
  return skills.map((info) => {
    const twin = twins.get(info)
    if (twin === undefined) return info
    return { ...info, diagnostics: [...info.diagnostics, caseDiagnostic(info, twin)] }
  })
}

function caseDiagnostic(info: SkillInfo, twin: SkillInfo): Diagnostic {
  return {
    code: 'name-differs-in-case',
    severity: 'warning',
    message: `the name ${info.name} differs from ${twin.name} (${twin.path}) only in case; some clients take them for one`,
    path: info.path,
    hint: 'Rename one of them.',
  }
}

/** Whether two skills are copies of each other: the same bytes in their `SKILL.md`. */
export function sameContent(a: SkillInfo, b: SkillInfo): boolean {
  if (a.size !== b.size) return false
  const first = readRegularFile(a.path, { maxBytes: maxSkillBytes })
  const second = readRegularFile(b.path, { maxBytes: maxSkillBytes })
  return first.ok && second.ok && first.bytes.equals(second.bytes)
}
