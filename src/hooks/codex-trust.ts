import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import type * as Zod from 'zod'
import { parseJson } from '../core/json.ts'
import { launcherName } from './launcher.ts'
import type { HookScope } from './registration.ts'

export type CodexTrust = Readonly<Record<HookScope, CodexHookTrust>>

export type CodexHookTrust =
  | 'trusted'
  | 'untrusted'
  /** Something of the hook has changed since it was trusted. */
  | 'modified'
  /** Codex is set not to run it. */
  | 'disabled'
  /** Codex does not know the hook: it is not registered, its folder is not trusted, or it did not answer. */
  | 'unknown'

const initializing = 1
const listing = 2

/**
 * Asks Codex over its own interface whether it will run our hook for a directory. We only ask: to
 * trust a hook is for the user.
 * @param program the `codex` program; it is started and ended.
 */
export async function codexTrust(
  program: string,
  options: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs?: number | undefined },
): Promise<CodexTrust> {
  const { cwd, env, timeoutMs = 8000 } = options
  const server = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const signal = AbortSignal.timeout(timeoutMs)
  const lines = createInterface({ input: server.stdout, signal })
  const send = (message: object): void => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  server.on('error', () => lines.close())
  server.stdin.on('error', () => undefined)
  const clientInfo = { name: 'skillrail', title: 'Skillrail', version: '1' }
  send({ id: initializing, method: 'initialize', params: { clientInfo } })
  const schema = messageSchema()
  try {
    for await (const line of lines) {
      const { data: message } = schema.safeParse(parseJson(line))
      if (message?.id === initializing) {
        send({ method: 'initialized' })
        send({ id: listing, method: 'hooks/list', params: { cwds: [cwd] } })
      } else if (message?.id === listing) {
        return trustIn(message.result.data.flatMap(({ hooks }) => hooks))
      }
    }
    return trustIn([])
  } finally {
    server.kill()
    server.stdout.destroy()
  }
}

function messageSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const hook = z.object({
    command: z.string().catch(''),
    source: z.unknown(),
    trustStatus: z.unknown(),
    enabled: z.unknown(),
  })
  const data = z.array(z.object({ hooks: z.array(hook).catch([]) })).catch([])
  const result = z.object({ data }).catch({ data: [] })
  return z.object({ id: z.unknown(), result })
}

type CodexHook = Zod.infer<
  ReturnType<typeof messageSchema>
>['result']['data'][number]['hooks'][number]

function trustIn(hooks: readonly CodexHook[]): CodexTrust {
  const ours = hooks.filter(({ command }) => command.includes(launcherName))
  const from = (scope: HookScope): CodexHookTrust => {
    const states = ours.filter(({ source }) => source === scope).map(trustOf)
    // One hook that Codex skips is a reference that is missing.
    return states.find((state) => state !== 'trusted') ?? states[0] ?? 'unknown'
  }
  return { user: from('user'), project: from('project') }
}

function trustOf({ trustStatus: status, enabled }: CodexHook): CodexHookTrust {
  if (status === 'untrusted' || status === 'modified') return status
  if (enabled !== true) return 'disabled'
  return status === 'trusted' || status === 'managed' ? 'trusted' : 'unknown'
}
