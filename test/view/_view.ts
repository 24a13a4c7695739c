import { systemRuntime } from '../../src/core/runtime.ts'
import { type OpenedView, openView } from '../../src/view/open-view.ts'
import type { ProjectView } from '../../src/view/project-view.ts'

export interface TestView extends Omit<OpenedView, 'address'> {
  token: string
  /** One that was not used yet. */
  readonly address: string
  /** The status and the JSON of an answer. */
  ask(
    name: string,
    question?: object,
  ): Promise<{ status: number; value: ReturnType<typeof JSON.parse> }>
  stop(): Promise<unknown>
}

export async function openTestView(
  project: ProjectView,
  { page = '<!doctype html><script>let a</script>', arrivalMs = 10_000 } = {},
): Promise<TestView> {
  const stop = new AbortController()
  const runtime = systemRuntime()
  const { signal } = stop
  const onUsed = (next: string): void => void (address = next)
  const view = await openView({ view: project, page, runtime, arrivalMs, signal, onUsed })
  let { address } = view
  const token = await tokenFor(address)
  return {
    ...view,
    token,
    get address() {
      return address
    },
    async ask(name, question = {}) {
      const response = await fetch(`http://127.0.0.1:${view.port}/api/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(question),
      })
      return { status: response.status, value: JSON.parse(await response.text()) }
    },
    async stop() {
      stop.abort()
      return await view.ended
    },
  }
}

/** What the page gets for the code in an address. */
export async function tokenFor(address: string): Promise<string> {
  const response = await fetch(new URL('/enter', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: address.split('#once-')[1] }),
  })
  const answer: { token: string } = JSON.parse(await response.text())
  return answer.token
}
