import type { ServerDefinition, ShadowedServer } from './model.ts'

/**
 * Of several definitions with one name, in the order of precedence, the first holds, except that
 * - one that may not start does not hide one that may, so that a project cannot take a server away;
 * - one that its client disabled hides only what the same client says further down.
 */
export function selectServers(found: readonly ServerDefinition[]): {
  servers: readonly ServerDefinition[]
  shadowed: readonly ShadowedServer[]
} {
  const byName = Map.groupBy(found, ({ name }) => name)
  const winners = new Map(Array.from(byName, ([name, all]) => [name, winnerOf(all)]))
  const places = new Map(found.map((server, at) => [server, at]))
  const servers = [...winners.values()].flatMap((winner) => winner ?? [])
  const shadowed = found.flatMap((server): ShadowedServer[] => {
    const winner = winners.get(server.name)
    if (winner === undefined || winner === server) return []
    return [{ server, by: winner.source, reason: reasonOf(server, winner, places) }]
  })
  return { servers, shadowed }
}

function winnerOf(all: readonly ServerDefinition[]): ServerDefinition | undefined {
  const off = new Set<string>()
  const live = all.filter(({ source, disabled }) => {
    if (disabled) off.add(source.client)
    return !off.has(source.client)
  })
  return live.find(({ blocked }) => blocked === undefined) ?? live[0] ?? all[0]
}

function reasonOf(
  server: ServerDefinition,
  winner: ServerDefinition,
  places: ReadonlyMap<ServerDefinition, number>,
): ShadowedServer['reason'] {
  if ((places.get(winner) ?? 0) < (places.get(server) ?? 0)) return 'earlier'
  return server.disabled ? 'disabled' : 'untrusted'
}
