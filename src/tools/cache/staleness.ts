/** A cache older than this is stale, unless its servers say otherwise. */
const day = 24 * 60 * 60 * 1000
/** Clocks of machines that share a project differ; a refresh further ahead than this is not believed. */
const skewMs = 5 * 60 * 1000

/** The seed's recommendation, which every command gives that meets a cache of doubtful worth. */
export const refreshAdvice =
  'Cache appears stale or missing. Run `skillrail tools refresh` to rebuild tool metadata.'

export interface ListedServer {
  /** ISO date. */
  listedAt: string
  ttlMs?: number | undefined
}

/**
 * Whether what was listed must be listed again: a server's own time to live counts before the 24
 * hours. A date that cannot be read, or that a clock has yet to reach, is none.
 */
export function isStale(
  refreshedAt: string,
  servers: readonly ListedServer[],
  now: number,
): boolean {
  if (servers.length === 0) return older(refreshedAt, day, now)
  return servers.some(({ listedAt, ttlMs }) => older(listedAt, ttlMs ?? day, now))
}

function older(date: string, ageMs: number, now: number): boolean {
  const time = Date.parse(date)
  return Number.isNaN(time) || now - time > ageMs || time - now > skewMs
}
