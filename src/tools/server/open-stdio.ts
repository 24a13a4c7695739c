import { isAbsolute } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { messageOf, systemCode } from '#core/errors'
import { isObject } from '#core/json'
import { clientInfo, type Runtime } from '#core/runtime'
import { isDirectory, isInside } from '#core/read-files'
import { makePrivateDirectory } from '#core/write-files'
import { type KeptProcess, startKeptProcess } from '#exec/kept-process'
import {
  type CapturedOutput,
  createCapture,
  passedOn,
  type ProcessEnd,
  whatIsMissing,
} from '#exec/process'
import type { ServerDefinition, ServerTransport } from '#tools/config/model'
import { hasCode, type Mask, unusableAnswer } from './read-answers.ts'
import type { OpenedServer, OpenOptions } from './connection.ts'
import { startCancelled, startFailed } from './errors.ts'

type StdioServer = ServerTransport & { kind: 'stdio' }

export async function openStdio(
  definition: ServerDefinition,
  transport: StdioServer,
  options: OpenOptions,
): Promise<OpenedServer> {
  const { runtime, project, signal, mask } = options
  const [sdk, process] = await Promise.all([
    import('@modelcontextprotocol/client'),
    startProcess(definition, transport, options),
  ])
  const stderr = createCapture(2 * keptBytes)
  process.stderr.on('data', stderr.add)
  const printed = (): string => lastLines(stderr.finish(), mask)
  let garbage: string | undefined
  const pipe = stdioTransport({
    process,
    messageLimit: options.answerLimit,
    parse: sdk.parseJSONRPCMessage,
    onGarbage(line) {
      const shown = mask(line.slice(0, longestGarbage)).slice(0, 200)
      const message = `it prints to stdout what is not a message: ${shown}`
      if (garbage === undefined) options.note(message)
      garbage ??= shown
    },
  })
  const client = new sdk.Client(clientInfo(), { capabilities: { roots: {} } })
  const isPlugin = transport.dataDirectory !== undefined
  answerRoots(client, transport.args, isPlugin ? project : (transport.cwd ?? project))
  try {
    await client.connect(pipe, { timeout: definition.startupTimeoutMs, signal })
  } catch (error) {
    // First, because the end of the process is news only while it was not ours.
    const ended = await endOf(process)
    await process.end()
    if (signal.aborted) throw startCancelled(definition.name, error)
    const hasFailed = ended?.kind === 'exit' && ended.code !== 0
    const missing = hasFailed ? missingFor(transport, project) : undefined
    const end = missing ?? (ended && endingText(ended, printed()))
    const message = mask(startFailure(definition, error, end, garbage, printed()))
    const stderrTail = printed() || (garbage ?? '')
    throw startFailed({ message, stderrTail }, { cause: error })
  }
  return {
    client,
    instance: `${process.pid}-${runtime.id()}`,
    async ending() {
      const ended = await endOf(process)
      return ended && endingText(ended, printed())
    },
    // The client lets go of a transport that broke; what a crashed server started still runs.
    close: () => client.close().finally(() => process.end()),
  }
}

async function startProcess(
  { name, source }: ServerDefinition,
  transport: StdioServer,
  { runtime, project, mask }: OpenOptions,
): Promise<KeptProcess> {
  const { command, args, env, cwd, dataDirectory } = transport
  try {
    if (dataDirectory !== undefined) {
      const isWithin = cwd !== undefined && isInside(dataDirectory, cwd)
      makePrivateDirectory(isWithin ? cwd : dataDirectory)
    }
    return await startKeptProcess({
      file: command,
      args,
      cwd: cwd ?? project,
      env: serverEnvironment(runtime, env),
      key: `server-${runtime.id()}`,
    })
  } catch (error) {
    const reason = missingFor(transport, project) ?? notStarted(command, error)
    const message = mask(`The server ${name} could not be started: ${reason}`)
    const hint = `Its configuration is in ${source.path}.`
    throw startFailed({ message }, { hint, cause: error })
  }
}

function missingFor({ command, cwd }: StdioServer, project: string): string | undefined {
  return whatIsMissing({ file: command, cwd: cwd ?? project })
}

/** The end of the process is seen a moment after that of its pipes. */
async function endOf(process: KeptProcess): Promise<ProcessEnd | undefined> {
  return await Promise.race([process.ended, wait(100, undefined)])
}

function notStarted(command: string, error: unknown): string {
  const code = systemCode(error)
  if (code === 'EACCES') return `permission to execute ${command} is denied`
  if (code !== 'ENOENT') return messageOf(error)
  return `there is no program ${command}${command.includes('/') ? '' : ' on the search path'}`
}

const longestGarbage = 8192

function startFailure(
  { name, startupTimeoutMs }: ServerDefinition,
  error: unknown,
  end: string | undefined,
  garbage: string | undefined,
  stderr: string,
): string {
  const head = `The server ${name} did not start: `
  // Otherwise it was ended by us, because of the error.
  const hasEnded = hasCode(error, 'CONNECTION_CLOSED') || hasCode(error, 'EPIPE')
  if (hasEnded && end !== undefined) return head + end
  const isLate = hasCode(error, 'REQUEST_TIMEOUT')
  const reason = isLate ? `it gave no answer within ${startupTimeoutMs} ms` : messageOf(error)
  const printed = garbage === undefined ? '' : `; it printed ${JSON.stringify(garbage)} to stdout`
  return head + reason + printed + lastOutput(stderr)
}

function endingText(end: ProcessEnd, stderr: string): string {
  const output = lastOutput(stderr)
  if (end.kind === 'exit') return `it ended with exit code ${end.code}${output}`
  return end.kind === 'signal' ? `it was killed by ${end.signal}${output}` : `it ended${output}`
}

function lastOutput(stderr: string): string {
  return stderr === '' ? '' : `. Its last error output:\n${stderr}`
}

/**
 * Tells a server of this machine where it may work when it asks (MCP, `roots/list`): in the
 * directories that its own arguments name, else in the project. Servers of files take the roots
 * instead of their arguments, so that others than these would widen what its owner allowed; servers
 * of browsers save files only below a root.
 */
function answerRoots(client: Client, args: readonly string[], project: string): void {
  const named = args.filter((arg, index) => {
    const isOfOption = args[index - 1]?.startsWith('-') === true
    return isAbsolute(arg) && !isOfOption && isDirectory(arg)
  })
  const directories = named.length > 0 ? named : [project]
  const roots = directories.map((directory) => ({ uri: pathToFileURL(directory).href }))
  client.setRequestHandler('roots/list', () => ({ roots }))
}

/** A server's environment: what clients pass on, without credentials, and its configuration. */
function serverEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = runtime.platform === 'win32' ? onWindows : onScreens
  // A value that begins so is a function that a shell exported.
  const inherited = Object.entries(passedOn(runtime, names)).filter(
    ([, value]) => !value.startsWith('()'),
  )
  return { ...Object.fromEntries(inherited), ...configured }
}

/** The screen that a browser opens on. */
const onScreens =
  'TERM DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS'.split(' ')

const onWindows =
  'HOMEDRIVE HOMEPATH PROCESSOR_ARCHITECTURE PROGRAMFILES(X86) PROGRAMW6432 USERNAME'.split(' ')

const keptBytes = 16_384
const keptLines = 20

function lastLines({ head, tail, droppedBytes }: CapturedOutput, mask: Mask): string {
  const isCut = droppedBytes > 0
  const whole = mask(stripVTControlCharacters(isCut ? tail : head)).trim()
  // What was cut may begin within a secret, which no mask knows then: half of it is for that.
  const shown = isCut ? whole.slice(whole.length / 2).replace(/^[^\n]*\n/, '') : whole
  return shown.split('\n').slice(-keptLines).join('\n')
}

/** How long output may still come after the server itself has ended. */
const drainMs = 250

/**
 * The protocol over the pipes of a process: one message a line. Unlike the official one it takes an
 * answer of any size in linear time, survives one that is too large, and sees the end of a server
 * whose children hold its pipes open.
 */
function stdioTransport(options: {
  process: KeptProcess
  /** Bytes of one message; a longer one is dropped and its call fails. */
  messageLimit: number
  parse: (value: unknown) => JSONRPCMessage
  onGarbage: (line: string) => void
}): Transport {
  const { process, messageLimit, parse, onGarbage } = options
  const waiting = new Set<string | number>()
  let isClosed = false
  const transport: Transport = {
    async start() {
      const read = splitLines(messageLimit, receive, refuse)
      process.stdout.on('data', read)
      process.stdout.on('end', closed)
      void process.ended.then(() => setTimeout(closed, drainMs).unref())
    },
    send(message) {
      if ('method' in message && 'id' in message) waiting.add(message.id)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      process.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error)
        else resolve()
      })
      return promise
    },
    async close() {
      await process.end()
      closed()
    },
  }
  return transport

  function receive(text: string): void {
    let value: unknown
    try {
      value = JSON.parse(text)
      deliver(parse(value))
    } catch {
      const id = isObject(value) && !('method' in value) ? value['id'] : undefined
      const isAwaited = (typeof id === 'string' || typeof id === 'number') && waiting.has(id)
      if (isAwaited) fail(id, 'it is not a result as the protocol knows it')
      else onGarbage(text)
    }
  }

  function deliver(message: JSONRPCMessage): void {
    if ('method' in message) {
      transport.onmessage?.(message)
      return
    }
    if (message.id !== undefined) waiting.delete(message.id)
    // The client takes notes of progress a turn later; its answer must not overtake them.
    queueMicrotask(() => transport.onmessage?.(message))
  }

  function fail(id: string | number, message: string): void {
    deliver({ jsonrpc: '2.0', id, error: { code: unusableAnswer, message } })
  }

  /** @param ends beginning and end of it: the id stands before or after the result */
  function refuse(ends: string, bytes: number): void {
    const named = [...ends.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, id]) => Number(id))
    const [only] = waiting
    const id = waiting.size === 1 ? only : named.find((number) => waiting.has(number))
    if (id === undefined) return
    fail(id, `its answer of ${bytes} bytes is over the limit of ${messageLimit}`)
  }

  function closed(): void {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }
}

const keptEnds = 512

/** Cuts a stream into lines without ever holding more than `limit` bytes of one. */
export function splitLines(
  limit: number,
  onLine: (text: string) => void,
  onDropped?: (ends: string, bytes: number) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let bytes = 0

  function add(part: Buffer): void {
    bytes += part.length
    parts.push(part)
    if (bytes <= limit) return
    const whole = Buffer.concat(parts)
    parts = [whole.subarray(0, keptEnds), whole.subarray(-keptEnds)].map((end) => Buffer.from(end))
  }

  function finish(): void {
    const [only] = parts
    const line = parts.length === 1 && only ? only : Buffer.concat(parts)
    const end = line.at(-1) === 13 ? line.length - 1 : line.length
    const text = line.toString('utf8', 0, end)
    if (bytes > limit) onDropped?.(text, bytes)
    else if (text !== '') onLine(text)
    parts = []
    bytes = 0
  }

  return (chunk) => {
    let start = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, at))
      finish()
      start = at + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
}
