import { safeLine } from '../base/index.ts'
import type { FoundPlace, Findings } from './_findings.ts'
import { mixedScripts } from './_scripts-of-text.ts'
import { skeletonOf } from './_skeleton.ts'
import type { OtherSkill } from './model.ts'

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
