import { spawn } from 'node:child_process'
import type { HookScope } from './registration.ts'
import { launcherName } from './launcher.ts'

/** What Codex itself says about our hook, by where it is registered. */
export type CodexTrust = Readonly<Record<HookScope, CodexHookTrust>>

export type CodexHookTrust =
  | 'trusted'
  | 'untrusted'
  /** Something of the hook has changed since it was trusted. */
  | 'modified'
  /** Codex is set not to run it. */
  | 'disabled'
  /** Codex does not know the hook: it is not registered, its folder is not trusted, or nobody answered. */
  | 'unknown'

/**
 * Asks Codex over its own interface whether it will run our hook for a directory. We only ask: to
 * trust a hook is for the user.
 *
 * @param program the `codex` program; it is started and ended.
 */
export async function codexTrust(
  program: string,
  options: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs?: number | undefined },
): Promise<CodexTrust> {
  const { cwd, env, timeoutMs = 8000 } = options
  const server = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const send = (message: object): void => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  server.stdin.on('error', () => undefined)
  return await new Promise<CodexTrust>((resolve) => {
    const finish = (trust: CodexTrust): void => {
      clearTimeout(timer)
      server.kill()
      resolve(trust)
    }
    const timer = setTimeout(() => finish(nothingKnown), timeoutMs)
    let rest = ''
    server.on('error', () => finish(nothingKnown))
    server.on('close', () => finish(nothingKnown))
    server.stdout.setEncoding('utf8')
    server.stdout.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const message = parse(line)
        if (message?.id === initializing) {
          send({ method: 'initialized' })
          send({ id: listing, method: 'hooks/list', params: { cwds: [cwd] } })
        } else if (message?.id === listing) finish(trustIn(message.result))
      }
    })
    const clientInfo = { name: 'skillrail', title: 'Skillrail', version: '1' }
    send({ id: initializing, method: 'initialize', params: { clientInfo } })
  })
}

const initializing = 1
const listing = 2

const nothingKnown: CodexTrust = { user: 'unknown', project: 'unknown' }

function trustIn(result: unknown): CodexTrust {
  const hooks = listOf(fieldOf(result, 'data'))
    .flatMap((place) => listOf(fieldOf(place, 'hooks')))
    .filter((hook) => String(fieldOf(hook, 'command')).includes(launcherName))
  const from = (scope: HookScope): CodexHookTrust =>
    worst(hooks.filter((hook) => fieldOf(hook, 'source') === scope).map(trustOf))
  return { user: from('user'), project: from('project') }
}

function trustOf(hook: unknown): CodexHookTrust {
  const status = fieldOf(hook, 'trustStatus')
  if (status === 'untrusted' || status === 'modified') return status
  if (fieldOf(hook, 'enabled') !== true) return 'disabled'
  return status === 'trusted' || status === 'managed' ? 'trusted' : 'unknown'
}

/** One hook that Codex skips is a reference that is missing. */
function worst(states: readonly CodexHookTrust[]): CodexHookTrust {
  if (states.length === 0) return 'unknown'
  return states.find((state) => state !== 'trusted') ?? 'trusted'
}

function parse(line: string): { id: unknown; result: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return { id: fieldOf(value, 'id'), result: fieldOf(value, 'result') }
  } catch {
    return undefined
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
