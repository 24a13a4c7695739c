import { nearest, type Runtime, UsageError } from '../base/index.ts'
import { installedPlatforms, isPlatform, type Platform, platforms } from '../hooks/index.ts'
import { findProgram } from '../exec/find-program.ts'

/** The clients that were named on the command line; where none was, those that are used here. */
export function namedPlatforms(runtime: Runtime, names: readonly string[]): Platform[] {
  const named = names.map(platformNamed)
  if (named.length > 0) return named
  const found = installedPlatforms(runtime, { findProgram: (name) => findProgram(name, runtime) })
  if (found.length > 0) return found
  throw new UsageError({
    code: 'client-missing',
    message: 'no agent client was found on this machine',
    hint: `Name one: ${platforms.join(', ')}.`,
  })
}

/** @throws {UsageError} for a name that is no client. */
export function platformNamed(name: string): Platform {
  if (isPlatform(name)) return name
  const meant = nearest(name, platforms)
  throw new UsageError({
    code: 'client-unknown',
    message: `${name} is no client; there are ${platforms.join(', ')}`,
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  })
}
