import { UsageError } from '../../core/errors.ts'
import type { Runtime } from '../../core/runtime.ts'
import { nearest } from '../../core/text.ts'
import { isPlatform, type Platform, platforms } from '../adapters.ts'
import { installedPlatforms } from '../status.ts'

export function namedClients(runtime: Runtime, names: readonly string[]): Platform[] {
  const found = names.length > 0 ? names.map(clientNamed) : installedPlatforms(runtime)
  if (found.length > 0) return found
  throw new UsageError({
    code: 'client-missing',
    message: 'no agent client was found on this machine',
    hint: `Name one: ${platforms.join(', ')}.`,
  })
}

export function clientNamed(name: string): Platform {
  if (isPlatform(name)) return name
  const meant = nearest(name, platforms)
  throw new UsageError({
    code: 'client-unknown',
    message: `${name} is not a client; the clients are ${platforms.join(', ')}`,
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  })
}
