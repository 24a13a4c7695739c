import { ask, RestateServerError, type ServerAddress } from './client.ts'

/** Older servers do not know the retry policy that our service declares. */
const oldest = [1, 5] as const
/** The newest that the tests ran with. */
const tried = [1, 7] as const

export type VersionVerdict =
  | { kind: 'known'; version: string }
  /** Nobody has tried it with this skillrail. */
  | { kind: 'newer'; version: string; message: string }
  | { kind: 'refused'; code: 'restate-too-old' | 'restate-version-unknown'; message: string }

/** What the version that a server told means; undefined when it told none. */
export function judgeVersion(version: string | undefined): VersionVerdict {
  const [, major, minor] = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version ?? '') ?? []
  if (version === undefined || major === undefined || minor === undefined) {
    const told =
      version === undefined
        ? 'tells no version of Restate'
        : `tells the version ${JSON.stringify(version.slice(0, 40))}`
    return {
      kind: 'refused',
      code: 'restate-version-unknown',
      message: `what answers there ${told}; Restate ${oldest.join('.')} or newer is needed`,
    }
  }
  const own = [Number(major), Number(minor)] as const
  if (isBefore(own, oldest)) {
    return {
      kind: 'refused',
      code: 'restate-too-old',
      message: `the server is Restate ${version}; at least ${oldest.join('.')} is needed`,
    }
  }
  if (own[0] === tried[0]) return { kind: 'known', version }
  const message = `the server is Restate ${version}; this skillrail was tried with ${tried.join('.')}`
  return { kind: 'newer', version, message }
}

/** Asks the admin interface of a server what it is. */
export async function askVersion(address: ServerAddress): Promise<VersionVerdict> {
  const signal = AbortSignal.timeout(5000)
  const { status, body } = await ask(address, 'admin', '/version', { signal })
  const told = typeof body === 'object' && body !== null && 'version' in body ? body.version : ''
  return judgeVersion(status === 200 && typeof told === 'string' && told !== '' ? told : undefined)
}

/**
 * Refuses a server that cannot be worked with, before anything is handed to it.
 * @throws {RestateServerError} with its version and the one that is needed.
 */
export async function requireVersion(address: ServerAddress): Promise<void> {
  const verdict = await askVersion(address)
  if (verdict.kind !== 'refused') return
  throw new RestateServerError({
    code: verdict.code,
    message: `${address.adminUrl}: ${verdict.message}`,
    hint: 'Name the admin interface with --admin-url, or upgrade the server (docs/scale.md).',
  })
}

function isBefore(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
}
