import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Context } from '#core/command'
import { compareText, UsageError } from '#core/errors'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { skillAt } from '#library/find-skill'
import type { SkillInfo } from '#library/model'
import { findSkillFiles } from '#library/walk'
import { SkillError } from '#skill/errors'
import { collectActingParts } from '#trust/acting-parts'
import { findWorkspace } from '#core/read-files'
import type { Acceptance, ActingPart } from '#trust/model'
import { type LockReading, readLock } from '#trust/lock-file'
import { LockStore } from '#trust/lock-store'
import { workspaceRelative } from '#trust/skill-files'
import { assessWorkspace, covers } from '#trust/skill-trust'
import type { TrustStore } from '#trust/store'
import { acceptedWorktrees } from '#trust/worktrees'
import { acceptGuards, readAccepted } from '#trust/accepted-guards'
import { alwaysGuarding, type GuardChange, guardChanges } from './always-guards.ts'
import { type TrustReport, trustReport } from './trust-report.ts'

/** Everything that a decision to trust a workspace needs, read once. */
export interface Review {
  workspace: string
  /** The folder that the user named. */
  place: string
  skills: SkillInfo[]
  /** Skills that a lock covers: project skills, and skills in folders that the configuration names. */
  lockable: SkillInfo[]
  report: TrustReport
  store: TrustStore
  lock: LockReading
  lockStore: LockStore
  /** Whether the lock that this user last saw is gone. */
  lockIsGone: boolean
  /** Whether accepting would change nothing. */
  settled: boolean
  /** Records the parts that can execute as accepted, in the state of the review. */
  accept(): Promise<void>
}

/** Reads a workspace, or with `one` the skill at the path, and compares it with the acceptance. */
export function reviewWorkspace(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  options: {
    pin?: boolean | undefined
    text?: boolean | undefined
    one?: boolean | undefined
  } = {},
): Review {
  const { runtime } = context
  const place = existingPlace(resolve(runtime.cwd, path ?? '.'))
  const workspace = findWorkspace(place, runtime)
  const recorded = store.find(workspace)
  const isSkill = ['SKILL.md', 'skill.md'].some((name) => existsSync(join(place, name)))
  const isAlone = options.one === true && isSkill && place !== workspace
  /** The single skill to review, by owner. */
  const one = isAlone ? workspaceRelative(workspace, place) : undefined
  const acceptance = acceptanceOf(recorded, one)
  const lock = readLock(workspace)
  const lockStore = new LockStore(runtime, workspace)
  const earlierDirectories = [
    ...(recorded?.parts.map(({ owner }) => owner).filter((owner) => owner !== '') ?? []),
    ...(lock.state === 'read' ? lock.skills.keys() : []),
  ].map((owner) => join(workspace, owner))
  const discovered = skillsOf(context, workspace, place, earlierDirectories)
  const isReviewed = (owner: string) => one === undefined || owner === one
  const ownerOf = ({ realDirectory }: SkillInfo) => workspaceRelative(workspace, realDirectory)
  const projectSkills = discovered.filter(({ scope }) => scope === 'project')
  const skills = projectSkills.filter((skill) => isReviewed(ownerOf(skill)))
  const guarding = reviewGuards(runtime, { workspace, found: discovered, one })
  const others =
    one === undefined && !recorded ? acceptedWorktrees(workspace, store.read().acceptances) : []
  const [other] = others
  const wasPinned = (one === undefined ? (acceptance ?? other) : recorded)?.pinned ?? false
  const pinned = options.pin ?? wasPinned
  const newText = options.text ?? (acceptance ?? other)?.newText ?? false
  // Read once, so that the user accepts the parts that were displayed, whatever is written meanwhile.
  const collected = collectActingParts(workspace, skills, {
    text: wasPinned || pinned,
    from: place,
    accepted: acceptance,
  })
  const all = collected.filter(({ owner }) => isReviewed(owner))
  const acting = all.filter((part) => part.kind !== 'text')
  const parts = pinned ? all : acting
  const assessment = assessWorkspace(acceptance, wasPinned ? all : acting)
  const same = others.find(
    (tree) => assessWorkspace(tree, tree.pinned ? all : acting).state === 'trusted',
  )
  return {
    workspace,
    place,
    skills,
    lockable: [...projectSkills, ...discovered.filter(({ scope }) => scope === 'custom')],
    report: trustReport({
      workspace,
      one,
      pinned,
      newText,
      skills,
      parts,
      assessment,
      sameAs: same?.workspace,
      texts: store.texts,
      guards: guarding.changes,
    }),
    store,
    lock,
    lockStore,
    lockIsGone: lock.state === 'none' && lockStore.wasLocked(),
    settled:
      assessment.state === 'trusted' &&
      guarding.settled &&
      pinned === wasPinned &&
      newText === (acceptance?.newText ?? false),
    async accept(): Promise<void> {
      // An unreadable part can be text, which is accepted only in a pinned workspace.
      const accepted = pinned ? all : acting.filter(({ problem }) => problem === undefined)
      if (one === undefined) await store.accept(workspace, accepted, { pinned, newText })
      else await acceptOne(store, recorded, { workspace, one, accepted })
      guarding.accept()
    },
  }
}

/** The chains whose guards always apply: what was accepted, and what accepting would change. */
function reviewGuards(
  runtime: Context['runtime'],
  {
    workspace,
    found,
    one,
  }: { workspace: string; found: readonly SkillInfo[]; one: string | undefined },
): { changes: readonly GuardChange[]; settled: boolean; accept: () => void } {
  const isOfWorkspace = ({ scope, trustLevel }: SkillInfo): boolean =>
    scope === 'project' || (scope === 'custom' && trustLevel === 'trusted')
  const chains = alwaysGuarding(found.filter(isOfWorkspace), workspace)
  const own = alwaysGuarding(
    found.filter(({ scope }) => scope === 'user'),
    workspace,
    { isOwn: true },
  )
  const accepted = readAccepted(runtime, workspace)
  const acceptedOwn = readAccepted(runtime, undefined)
  const isMeant = ({ path }: { path: string }): boolean =>
    one === undefined || dirname(path) === one
  const before = accepted.kind === 'read' ? accepted.chains : []
  const now = [...before.filter((chain) => !isMeant(chain)), ...chains.filter(isMeant)]
  const changes = [
    ...guardChanges(accepted, now, false).filter(isMeant),
    ...(one === undefined ? guardChanges(acceptedOwn, own, true) : []),
  ]
  const isReadable = accepted.kind === 'read' && acceptedOwn.kind === 'read'
  return {
    changes,
    settled: isReadable && changes.every(({ change }) => change === 'none'),
    accept() {
      acceptGuards(runtime, { workspace, chains: now })
      if (one === undefined) acceptGuards(runtime, { chains: own })
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
  const { pinned = false, newText, skills = [], parts = [] } = recorded ?? {}
  const isWhole = recorded !== undefined && recorded.skills === undefined
  await store.accept(workspace, [...parts.filter(({ owner }) => owner !== one), ...accepted], {
    pinned,
    newText,
    skills: isWhole ? undefined : [...new Set([...skills, one])].toSorted(compareText),
  })
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
 * Returns the skills to review: skills discovered from `place`, skills below a `place` that is not the
 * whole workspace, and skills in earlier accepted or locked directories. The last ones keep a command
 * in one folder from dropping the skills of another.
 */
function skillsOf(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  workspace: string,
  place: string,
  before: readonly string[],
): SkillInfo[] {
  const options = discoverOptionsFrom({ ...runtime, cwd: place }, settings)
  const { skills, shadowed, conflicts } = discoverSkills(options)
  const all = [...skills, ...shadowed, ...conflicts]
  const directories = new Set(all.map(({ realDirectory }) => realDirectory))
  // A chain runs the skills beside it, so a skill's path includes its neighbours.
  const folder = existsSync(join(place, 'SKILL.md')) ? dirname(place) : place
  const nested = place === workspace ? [] : [...findSkillFiles(folder)]
  for (const directory of [...nested.map((file) => file.directory), ...before]) {
    try {
      const skill = directories.has(directory) ? undefined : skillAt(directory, options)
      if (!skill || directories.has(skill.realDirectory)) continue
      directories.add(skill.realDirectory)
      all.push(skill)
    } catch (error) {
      // A missing or broken skill cannot act, so it needs no trust.
      if (!(error instanceof SkillError)) throw error
    }
  }
  return all
}
