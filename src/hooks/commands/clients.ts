import { UsageError } from '../../core/errors.ts'
import type { Runtime } from '../../core/runtime.ts'
import { nearest } from '../../core/text.ts'
import { isPlatform, type Platform, platforms } from '../adapters.ts'
import { installedPlatforms } from '../status.ts'

export function namedClients(runtime: Runtime, names: readonly string[]): Platform[] {
  const found = names.length > 0 ? names.map(clientNamed) : installedPlatforms(runtime)
  if (found.length > 0) return found
  const message = 'no agent client was found on this machine'
  const hint = `Name one: ${platforms.join(', ')}.`
  throw new UsageError({ code: 'client-missing', message, hint })
}

export function clientNamed(name: string): Platform {
  if (isPlatform(name)) return name
  const meant = nearest(name, platforms)
  const message = `${name} is not a client; the clients are ${platforms.join(', ')}`
  const hint = meant && `Did you mean ${meant}?`
  throw new UsageError({ code: 'client-unknown', message, hint })
}
