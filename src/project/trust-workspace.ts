import type { Context } from '#core/command'
import { wrongUse } from '#core/errors'
import type { TrustStore } from '#trust/store'
import { compareWithLock, type LockReport } from './skill-lock.ts'
import type { TrustReport } from './trust-report.ts'
import { reviewWorkspace } from './trust-review.ts'

/** A workspace or skill to trust, and the preview that the user sees first. */
export interface TrustPlan {
  preview: TrustResult
  /** @throws {UsageError} if an option for the workspace was given for one skill. */
  requireUsableOptions(): void
  /** Records the workspace as it was reviewed, and keeps the texts of locked skills. */
  accept(): Promise<TrustResult>
}

export interface TrustResult extends TrustReport {
  was: TrustReport['state']
  accepted: boolean
  /** Undefined if the project has no lock. */
  lock: LockReport | undefined
  /** Whether accepting would change nothing. */
  settled: boolean
  dryRun: boolean
}

export interface TrustOptions {
  pin?: boolean | undefined
  text?: boolean | undefined
  dryRun: boolean
}

/** Reviews a workspace, or the one skill at the path, and plans its acceptance. Records nothing. */
export function planTrust(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  { pin, text, dryRun }: TrustOptions,
): TrustPlan {
  const review = reviewWorkspace(context, store, path, { pin, text, one: true })
  const { report, settled } = review
  const { report: lock, current } = compareWithLock(review)
  const hasLock = lock.state !== 'none' || lock.diagnostics.length > 0
  const preview: TrustResult = {
    ...report,
    was: report.state,
    accepted: false,
    lock: hasLock ? lock : undefined,
    settled,
    dryRun,
  }
  return {
    preview,
    requireUsableOptions() {
      if (report.skill === undefined || (pin === undefined && text === undefined)) return
      const flag = pin === undefined ? 'text' : 'pin'
      const hint = `Give the workspace: skillrail trust --${flag} ${report.workspace}`
      const message = `--${flag} and --no-${flag} are for a whole workspace, not for one skill`
      throw wrongUse(message, hint)
    },
    async accept() {
      await review.accept()
      if (lock.state === 'locked') await review.lockStore.keep(current)
      return { ...preview, state: 'trusted', accepted: true }
    },
  }
}
