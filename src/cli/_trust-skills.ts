import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Runtime, Settings } from '../base/index.ts'
import {
  discoverOptionsFrom,
  discoverSkills,
  findSkillFiles,
  skillAt,
  type SkillInfo,
} from '../library/index.ts'
import { SkillError } from '../skill/index.ts'
import type { Acceptance } from '../trust/index.ts'

export interface TrustScope {
  /** Real path of the workspace. */
  workspace: string
  /** The workspace, or a folder or a skill in it that the user named. */
  place: string
  /** What was accepted before. */
  acceptance: Acceptance | undefined
  /** Directories of the skills in the project's lock, relative to the workspace. */
  locked: readonly string[]
}

export interface SkillsToTrust {
  skills: SkillInfo[]
  /** Those, and what was given by path; only what lies in the workspace can be locked. */
  lockable: SkillInfo[]
}

/**
 * The project's skills that trusting a workspace is about: those that are found from `place`, those
 * that lie below it where it is not the whole workspace, and those that were accepted or locked
 * before. The last keep a command that starts in one folder from forgetting the skills of another.
 */
export function skillsToTrust(
  runtime: Runtime,
  settings: Settings,
  { workspace, place, acceptance, locked }: TrustScope,
): SkillsToTrust {
  const options = discoverOptionsFrom({ ...runtime, cwd: place }, settings)
  const { skills, shadowed, conflicts } = discoverSkills(options)
  const found = [...skills, ...shadowed, ...conflicts]
  const accepted = new Set(
    acceptance?.parts.map((part) => part.owner).filter((owner) => owner !== ''),
  )
  const named = place === workspace ? [] : [...findSkillFiles(folderOf(place))]
  const places = [
    ...named.map((file) => file.directory),
    ...[...accepted, ...locked].map((owner) => join(workspace, owner)),
  ]
  const known = new Set(found.map((skill) => skill.realDirectory))
  for (const directory of places) {
    const skill = known.has(directory) ? undefined : skillIfUsable(directory)
    if (skill === undefined || known.has(skill.realDirectory)) continue
    known.add(skill.realDirectory)
    found.push(skill)
  }
  const own = found.filter((skill) => skill.scope === 'project')
  // A folder of the project that its own configuration names is held to the lock too.
  const given = found.filter((skill) => skill.scope === 'custom')
  return { skills: own, lockable: [...own, ...given] }

  function skillIfUsable(directory: string): SkillInfo | undefined {
    try {
      return skillAt(directory, options)
    } catch (error) {
      // A skill that is gone or broken cannot act, so nothing of it is to be trusted.
      if (error instanceof SkillError) return undefined
      throw error
    }
  }
}

/** A chain runs the skills that lie beside it, so a skill stands for the folder that holds it. */
function folderOf(place: string): string {
  return existsSync(join(place, 'SKILL.md')) ? dirname(place) : place
}
