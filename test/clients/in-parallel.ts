import { availableParallelism } from 'node:os'

/** Works on the items in order, two at a time for each processor: clients wait most of the time. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker))
  return results
}
