import { prepareRanker } from '../rank/ranker.ts'

/** The entries that fit a request best; only those with something in common with it, best first. */
export function scoreSkills<Entry extends { name: string; description: string }>(
  query: string,
  entries: readonly Entry[],
  most: number,
): Entry[] {
  const documents = entries.map(({ name, description }) => ({
    id: name,
    name,
    fields: [
      { kind: 'name', text: name, weight: 3 },
      { kind: 'description', text: description, weight: 1 },
    ],
  }))
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  return prepareRanker(documents)(query)
    .ranked.slice(0, most)
    .flatMap(({ id }) => byName.get(id) ?? [])
}
