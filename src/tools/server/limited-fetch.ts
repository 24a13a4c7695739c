import type { FetchLike } from '@modelcontextprotocol/client'

/** `fetch` that breaks off an answer to a message once it is over the limit. */
export function limitedFetch(limit: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method !== 'POST' || response.body === null || !response.ok) return response
    let bytes = 0
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length
          if (bytes > limit)
            controller.error(new Error(`the answer is over the limit of ${limit} bytes`))
          else controller.enqueue(chunk)
        },
      }),
    )
    const { status, statusText, headers } = response
    return new Response(counted, { status, statusText, headers })
  }
}
