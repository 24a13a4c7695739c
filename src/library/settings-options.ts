import type { Runtime, Settings } from '../base/index.ts'
import type { DiscoverOptions } from './discover.ts'

/** The options of a search as a user's and a project's configuration have them. */
export function discoverOptionsFrom(runtime: Runtime, settings: Settings): DiscoverOptions {
  return {
    runtime,
    customPaths: settings.skills.paths,
    trustedPaths: settings.skills.trustedPaths,
    precedence: settings.skills.precedence,
    workspaceTrust: settings.workspaceTrust,
  }
}
