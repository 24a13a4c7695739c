import type * as Sdk from '@modelcontextprotocol/client'

/** The official client; loaded only where a connection is opened. */
export function loadSdk(): Promise<typeof Sdk> {
  return import('@modelcontextprotocol/client')
}
