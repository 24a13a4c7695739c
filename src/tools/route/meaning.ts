import type { ToolSummary } from '../model.ts'
import type { Embedding, EmbedOptions } from './embedding.ts'

/**
 * How near each tool's meaning is to the request's, by id, for `route`. `stored` embeds the tools and
 * may keep what it has; `embedding` embeds the request.
 */
export async function meaningOf(
  request: string,
  tools: readonly ToolSummary[],
  { embedding, stored = embedding }: { embedding: Embedding; stored?: Embedding | undefined },
  options?: EmbedOptions,
): Promise<ReadonlyMap<string, number>> {
  const vectors = await stored.embed(tools.map(embeddedText), options)
  const [asked] = await embedding.embed([request.slice(0, longestText)], options)
  return new Map(
    tools.map(({ id }, at) => [
      id,
      cosine(asked ?? new Float32Array(), vectors[at] ?? new Float32Array()),
    ]),
  )
}

const longestText = 2_000

/** A tool as a sentence: `take screenshot. Saves a picture of the page.` */
export function embeddedText({
  name,
  description,
}: Pick<ToolSummary, 'name' | 'description'>): string {
  const words = name
    .slice(name.lastIndexOf('__') + 1)
    .replace(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .replace(/[_\-.]+/g, ' ')
    .trim()
  return `${words}. ${description}`.slice(0, longestText)
}

/** 0 for vectors of different lengths, and for those without a direction. */
export function cosine(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0
  let product = 0
  let squareOfOne = 0
  let squareOfOther = 0
  for (let at = 0; at < one.length; at++) {
    const a = one[at] ?? 0
    const b = other[at] ?? 0
    product += a * b
    squareOfOne += a * a
    squareOfOther += b * b
  }
  const length = Math.sqrt(squareOfOne * squareOfOther)
  return length === 0 ? 0 : product / length
}
