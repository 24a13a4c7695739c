import { spawn } from 'node:child_process'
import { launcherName } from './launcher-place.ts'

/** What Codex itself says about our hook. */
export type CodexTrust =
  | 'trusted'
  | 'untrusted'
  /** Something of the hook has changed since it was trusted. */
  | 'modified'
  /** Codex does not know the hook, or is set not to run hooks. */
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
    const timer = setTimeout(() => finish('unknown'), timeoutMs)
    let rest = ''
    server.on('error', () => finish('unknown'))
    server.on('close', () => finish('unknown'))
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

/** The worst of ours: one hook that Codex skips is a reference that is missing. */
function trustIn(result: unknown): CodexTrust {
  const states = listOf(fieldOf(result, 'data'))
    .flatMap((place) => listOf(fieldOf(place, 'hooks')))
    .filter((hook) => String(fieldOf(hook, 'command')).includes(launcherName))
    .map((hook) => (fieldOf(hook, 'enabled') === true ? fieldOf(hook, 'trustStatus') : 'unknown'))
  if (states.length === 0) return 'unknown'
  const worst = states.find((state) => state !== 'trusted' && state !== 'managed')
  if (worst === undefined) return 'trusted'
  return worst === 'modified' || worst === 'untrusted' ? worst : 'unknown'
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
