import type * as Sdk from '@modelcontextprotocol/client'
import { packageVersion } from '../../core/runtime.ts'

/** The official client; loaded only where a connection is opened. */
export function loadSdk(): Promise<typeof Sdk> {
  return import('@modelcontextprotocol/client')
}

/** How we call ourselves to a server. */
export function clientInfo(): Sdk.Implementation {
  return { name: 'skillrail', version: packageVersion() }
}
