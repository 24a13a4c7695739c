import { dirname } from 'node:path'
import type { Check, CheckContext } from '#core/command'
import { amount, shellWord } from '#core/text'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { skillProblems } from './verdicts.ts'

/** Reports skills with a trigger that cannot fire, for `doctor`. */
export async function checkIdleTriggers({ runtime, settings }: CheckContext): Promise<Check[]> {
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const { idle } = await skillProblems(skills, runtime)
  const [first] = idle
  if (!first) return []
  const [path, reason] = first
  const found = `${amount(idle.size, 'skill')} with a trigger that never fires: ${reason}`
  const advice = `skillrail validate ${shellWord(dirname(path))}`
  return [{ name: 'triggers', status: 'warning', found, advice }]
}
