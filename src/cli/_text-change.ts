import type { LockStore, TrustStore } from '../trust/index.ts'
import { unifiedDiff } from '../base/unified-diff.ts'

/** The texts that were kept of what was accepted or locked, by their digests. */
export interface KeptTexts {
  textOf(digest: string): string | undefined
  wasSecret(digest: string): boolean
}

/** As they were locked here, or as they were accepted. */
export function keptTexts(store: TrustStore, lock?: LockStore): KeptTexts {
  return {
    textOf: (digest) => lock?.lockedText(digest) ?? store.acceptedText(digest),
    wasSecret: (digest) => (lock?.wasSecret(digest) ?? false) || store.wasSecret(digest),
  }
}

/** A change of one file: a unified diff, or why there is none. */
export interface TextChange {
  diff?: string | undefined
  note?: string | undefined
}

/** What differs in a file that is there, for the reader. */
export function textChange(
  path: string,
  now: { text?: string | undefined; link?: string | undefined; problem?: string | undefined },
  before: { digest: string; verb: 'accepted' | 'locked' } | 'new',
  kept: KeptTexts,
): TextChange {
  const { text, link, problem } = now
  if (problem !== undefined) return { note: problem }
  if (link !== undefined) return { note: `a link to ${link}` }
  if (text === undefined) return { note: 'no text, or too long to be shown' }
  const known = before === 'new' ? '' : kept.textOf(before.digest)
  if (known !== undefined) return { diff: unifiedDiff(path, known, text) }
  return before === 'new' ? {} : { note: unknownText(before, kept) }
}

function unknownText(
  { digest, verb }: { digest: string; verb: string },
  { wasSecret }: KeptTexts,
): string {
  return wasSecret(digest)
    ? `no diff: the text that was ${verb} was not kept, since it seems to hold a secret`
    : `no diff: the text that was ${verb} is not known here`
}
