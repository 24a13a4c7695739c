import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Context } from '#core/command'
import { compareText, exitCode, type ExitCode, SkillrailError, UsageError } from '#core/errors'
import { isYes } from '#core/text'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { skillAt } from '#library/find-skill'
import type { SkillInfo } from '#library/model'
import { findSkillFiles } from '#library/walk'
import { SkillError } from '#skill/errors'
import { collectActingParts } from '#trust/acting-parts'
import { findWorkspace } from '#core/read-files'
import type { Acceptance, ActingPart } from '#trust/model'
import { LockStore, readLock } from '#trust/lock'
import { workspaceRelative } from '#trust/skill-files'
import { assessWorkspace, covers } from '#trust/skill-trust'
import type { TrustStore } from '#trust/store'
import { trustReport } from './report.ts'

export type Review = ReturnType<typeof reviewWorkspace>

export function reviewWorkspace(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  options: { pin?: boolean | undefined; one?: boolean | undefined } = {},
) {
  const { runtime } = context
  const place = existingPlace(resolve(runtime.cwd, path ?? '.'))
  const workspace = findWorkspace(place, runtime)
  const recorded = store.find(workspace)
  const isSkill = ['SKILL.md', 'skill.md'].some((name) => existsSync(join(place, name)))
  const isAlone = options.one === true && isSkill && place !== workspace
  /** The only skill that is meant, by owner. */
  const one = isAlone ? workspaceRelative(workspace, place) : undefined
  const acceptance = acceptanceOf(recorded, one)
  const lock = readLock(workspace)
  const lockStore = new LockStore(runtime, workspace)
  const known = [
    ...(recorded?.parts.map(({ owner }) => owner).filter((owner) => owner !== '') ?? []),
    ...(lock.state === 'read' ? lock.skills.keys() : []),
  ].map((owner) => join(workspace, owner))
  const found = skillsOf(context, workspace, place, known)
  const isMeant = (owner: string) => one === undefined || owner === one
  const ownerOf = ({ realDirectory }: SkillInfo) => workspaceRelative(workspace, realDirectory)
  const ofProject = found.filter(({ scope }) => scope === 'project')
  const skills = ofProject.filter((skill) => isMeant(ownerOf(skill)))
  const wasPinned = (one === undefined ? acceptance : recorded)?.pinned ?? false
  const pinned = options.pin ?? wasPinned
  // Read once: what is accepted is what was shown, whatever is written while a user reads.
  const collected = collectActingParts(workspace, skills, {
    text: wasPinned || pinned,
    from: place,
    accepted: acceptance,
  })
  const all = collected.filter(({ owner }) => isMeant(owner))
  const acting = all.filter((part) => part.kind !== 'text')
  const parts = pinned ? all : acting
  const assessment = assessWorkspace(acceptance, wasPinned ? all : acting)
  return {
    workspace,
    place,
    skills,
    /** What a lock covers: a folder of the project that its own configuration names as well. */
    lockable: [...ofProject, ...found.filter(({ scope }) => scope === 'custom')],
    report: trustReport({ workspace, one, pinned, skills, parts, assessment, texts: store.texts }),
    store,
    lock,
    lockStore,
    /** There was a lock when this user last looked, and there is none now. */
    lockIsGone: lock.state === 'none' && lockStore.wasLocked(),
    settled: assessment.state === 'trusted' && pinned === wasPinned,
    /** Records everything that acts as accepted, as it was when it was reviewed. */
    async accept(): Promise<void> {
      // A part that cannot be read may be one of the text, which is accepted only where it is pinned.
      const accepted = pinned ? all : acting.filter(({ problem }) => problem === undefined)
      if (one === undefined) await store.accept(workspace, accepted, { pinned })
      else await acceptOne(store, recorded, { workspace, one, accepted })
    },
  }
}

function acceptanceOf(recorded: Acceptance | undefined, one: string | undefined) {
  if (one === undefined) return !recorded?.skills ? recorded : undefined
  if (!recorded || !covers(recorded, join(recorded.workspace, one))) return undefined
  return { ...recorded, parts: recorded.parts.filter(({ owner }) => owner === one) }
}

async function acceptOne(
  store: TrustStore,
  recorded: Acceptance | undefined,
  { workspace, one, accepted }: { workspace: string; one: string; accepted: readonly ActingPart[] },
): Promise<void> {
  const { pinned = false, skills = [], parts = [] } = recorded ?? {}
  const isWhole = recorded !== undefined && recorded.skills === undefined
  await store.accept(workspace, [...parts.filter(({ owner }) => owner !== one), ...accepted], {
    pinned,
    skills: isWhole ? undefined : [...new Set([...skills, one])].toSorted(compareText),
  })
}

/** Asks the user at the terminal, who may have said `--yes` beforehand. */
export async function agree(
  { ask }: Pick<Context, 'ask'>,
  { question, yes, ...refusal }: { question: string; yes: boolean; message: string; hint: string },
): Promise<boolean> {
  if (yes) return true
  const code = 'workspace-not-trusted'
  const otherwise = (): Error => new WorkspaceNotTrustedError({ code, ...refusal })
  const answer = await ask({ text: `\n${question}? [y/N] `, otherwise })
  return isYes(answer)
}

/** The workspace would have to be trusted, and nobody was there to say so. Exit code 4. */
export class WorkspaceNotTrustedError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}

function existingPlace(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) {
    const hint = 'Give a directory. skillrail trust --list shows what is trusted.'
    throw new UsageError({ code: 'path-missing', message: `there is nothing at ${path}`, hint })
  }
  const real = realpathSync.native(path)
  return stats.isDirectory() ? real : dirname(real)
}

/**
 * The skills that trusting a workspace is about: those that are found from `place`, those that lie
 * below it where it is not the whole workspace, and those in the directories that were accepted or
 * locked before. The last keep a command that starts in one folder from forgetting those of another.
 */
function skillsOf(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  workspace: string,
  place: string,
  before: readonly string[],
): SkillInfo[] {
  const options = discoverOptionsFrom({ ...runtime, cwd: place }, settings)
  const { skills, shadowed, conflicts } = discoverSkills(options)
  const found = [...skills, ...shadowed, ...conflicts]
  const known = new Set(found.map(({ realDirectory }) => realDirectory))
  // A chain runs the skills that lie beside it, so a skill stands for the folder that holds it.
  const folder = existsSync(join(place, 'SKILL.md')) ? dirname(place) : place
  const named = place === workspace ? [] : [...findSkillFiles(folder)]
  for (const directory of [...named.map((file) => file.directory), ...before]) {
    try {
      const skill = known.has(directory) ? undefined : skillAt(directory, options)
      if (!skill || known.has(skill.realDirectory)) continue
      known.add(skill.realDirectory)
      found.push(skill)
    } catch (error) {
      // A skill that is gone or broken cannot act, so nothing of it needs to be trusted.
      if (!(error instanceof SkillError)) throw error
    }
  }
  return found
}
