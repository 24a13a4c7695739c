import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { holdAsListed, holdOf, type ToolIndex } from '#tools/cache/tool-index'
import type { ServerDefinition } from '#tools/config/model'
import { serverMask } from '#tools/server/read-answers'
import type { SessionStore } from '#tools/workflow/session'
import type { CallContext, CallGate } from './context.ts'
import { createSchemaChecker, type SchemaChecker } from './schema-checker.ts'
import { filesOf } from './upload-paths.ts'

/** Where calls come from, and what differs between the command line, the MCP server and an agent. */
export interface CallSource extends Pick<
  CallContext,
  'servers' | 'discover' | 'signal' | 'note' | 'progress'
> {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools'>
  session: SessionStore
  index: ToolIndex
  /** Further indexes that hold tools back: a discovery removes nothing that a cache knows. */
  holdingIndexes?: () => readonly ToolIndex[]
  /** As the configuration is now; undefined: no such server. */
  serverDefinition: (name: string) => ServerDefinition | undefined
  gate: CallGate
  schemas?: SchemaChecker | undefined
  /** Milliseconds for each call, whatever the server's configuration says. */
  callTimeoutMs?: number | undefined
}

/** The context of every call of a project's tools: one set of rules, whoever calls. */
export function callContext(source: CallSource): CallContext {
  const { project, runtime, settings, session, index, serverDefinition, gate } = source
  const { servers, discover, signal, note, progress, schemas = createSchemaChecker() } = source
  const { retryWaits, replaySafe, neverReplay } = settings.tools
  const indexes = source.holdingIndexes ?? (() => [index])
  return {
    index,
    servers,
    discover,
    rules(name) {
      const definition = serverDefinition(name)
      if (!definition) return { trusted: false }
      const { trusted, allow, deny, transport } = definition
      const callTimeoutMs = source.callTimeoutMs ?? definition.callTimeoutMs
      return { trusted, allow, deny, files: filesOf(transport, project), callTimeoutMs }
    },
    hold({ id }, now) {
      const since = new Date(runtime.now()).toISOString()
      for (const one of indexes()) {
        const hold = holdOf(id, one) ?? (now && holdAsListed(now, one, since))
        if (hold) return hold
      }
      return undefined
    },
    permissions: settings.tools,
    gate,
    log(record, name) {
      const definition = serverDefinition(name)
      return session.log(definition ? serverMask(definition.transport)(record) : record)
    },
    retry: { waitsMs: retryWaits.map((seconds) => seconds * 1000), replaySafe, neverReplay },
    schemas,
    runtime,
    signal,
    note,
    progress,
  }
}
