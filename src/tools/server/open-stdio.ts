import { isAbsolute } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { messageOf, systemCode } from '#core/errors'
import { findProgram } from '#core/find-program'
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
import { answerTooLarge, hasCode, type Mask, unusableAnswer } from './read-answers.ts'
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
  const stderr = createCapture(2 * tailBytes)
  process.stderr.on('data', stderr.add)
  const stderrText = (): string => lastLines(stderr.finish(), mask)
  let garbage: string | undefined
  const pipe = stdioTransport({
    process,
    messageLimit: options.answerLimit,
    parse: sdk.parseJSONRPCMessage,
    onGarbage(line) {
      const excerpt = mask(line.slice(0, longestGarbage)).slice(0, 200)
      const message = `it prints to stdout something that is not a message: ${excerpt}`
      if (garbage === undefined) options.note(message)
      garbage ??= excerpt
    },
  })
  const client = new sdk.Client(clientInfo(), { capabilities: { roots: {} } })
  const isPlugin = transport.dataDirectory !== undefined
  answerRoots(client, transport.args, isPlugin ? project : (transport.cwd ?? project))
  try {
    await client.connect(pipe, { timeout: definition.startupTimeoutMs, signal })
  } catch (error) {
    // Read before we end the process, because only an earlier end explains the error.
    const processEnd = await endOf(process)
    await process.end()
    if (signal.aborted) throw startCancelled(definition.name, error)
    const hasFailed = processEnd?.kind === 'exit' && processEnd.code !== 0
    const missingText = hasFailed ? missingFor(transport, project) : undefined
    const end = missingText ?? (processEnd && endingText(processEnd, stderrText()))
    const message = mask(startFailure(definition, error, end, garbage, stderrText()))
    const stderrTail = stderrText() || (garbage ?? '')
    throw startFailed({ message, stderrTail }, { cause: error })
  }
  return {
    client,
    instance: `${process.pid}-${runtime.id()}`,
    async ending() {
      const processEnd = await endOf(process)
      return processEnd && endingText(processEnd, stderrText())
    },
    // The client drops a broken transport, but processes that a crashed server started still run.
    close: () => client.close().finally(() => process.end()),
  }
}

async function startProcess(
  { name, source }: ServerDefinition,
  transport: StdioServer,
  options: OpenOptions,
): Promise<KeptProcess> {
  const { runtime, project, mask } = options
  const { command, args, env, cwd, dataDirectory } = transport
  try {
    if (dataDirectory !== undefined) {
      const isWithin = cwd !== undefined && isInside(dataDirectory, cwd)
      makePrivateDirectory(isWithin ? cwd : dataDirectory)
    }
    const environment = serverEnvironment(runtime, env)
    return await startKeptProcess({
      file: source.scope === 'user' ? programOfUser(command, environment, options) : command,
      args,
      cwd: cwd ?? project,
      env: environment,
      key: `server-${runtime.id()}`,
    })
  } catch (error) {
    const reason = missingFor(transport, project) ?? notStarted(command, error)
    const message = mask(`The server ${name} could not be started: ${reason}`)
    const hint = `Its configuration is in ${source.path}.`
    throw startFailed({ message }, { hint, cause: error })
  }
}

/** Returns the program of a user's server. The project must not replace it by one with the same name. */
function programOfUser(
  command: string,
  env: Readonly<Record<string, string>>,
  { runtime: { platform }, project }: OpenOptions,
): string {
  if (command.includes('/') || platform === 'win32') return command
  const program = findProgram(command, { env, platform, cwd: project })
  if (program !== undefined) return program
  const explanation = 'the project and folders that another account can write do not count'
  throw new Error(`there is no program ${command} on the search path; ${explanation}`)
}

function missingFor({ command, cwd }: StdioServer, project: string): string | undefined {
  return whatIsMissing({ file: command, cwd: cwd ?? project })
}

/** Waits briefly for the process, because its pipes close a moment earlier. */
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
  // Otherwise we ended the process because of the error.
  const hasEnded = hasCode(error, 'CONNECTION_CLOSED') || hasCode(error, 'EPIPE')
  if (hasEnded && end !== undefined) return head + end
  const isLate = hasCode(error, 'REQUEST_TIMEOUT')
  const reason = isLate ? `it gave no answer within ${startupTimeoutMs} ms` : messageOf(error)
  const output = garbage === undefined ? '' : `; it printed ${JSON.stringify(garbage)} to stdout`
  return head + reason + output + lastOutput(stderr)
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
 * Answers a local server's request for its directories (MCP, `roots/list`): those in its arguments, else the
 * project. File servers use the roots instead of their arguments, so other roots would extend the user's
 * permission. Browser servers save files only below a root.
 */
function answerRoots(client: Client, args: readonly string[], project: string): void {
  const argumentDirectories = args.filter((arg, index) => {
    const isOfOption = args[index - 1]?.startsWith('-') === true
    return isAbsolute(arg) && !isOfOption && isDirectory(arg)
  })
  const directories = argumentDirectories.length > 0 ? argumentDirectories : [project]
  const roots = directories.map((directory) => ({ uri: pathToFileURL(directory).href }))
  client.setRequestHandler('roots/list', () => ({ roots }))
}

/** Returns a server's environment: the usual variables without credentials, and its configured ones. */
function serverEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = runtime.platform === 'win32' ? onWindows : onScreens
  // A value with this beginning is an exported shell function.
  const inheritedVariables = Object.entries(passedOn(runtime, names)).filter(
    ([, value]) => !value.startsWith('()'),
  )
  return { ...Object.fromEntries(inheritedVariables), ...variables }
}

/** Variables for the screen of a browser. */
const onScreens =
  'TERM DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS'.split(' ')

const onWindows =
  'HOMEDRIVE HOMEPATH PROCESSOR_ARCHITECTURE PROGRAMFILES(X86) PROGRAMW6432 USERNAME'.split(' ')

const tailBytes = 16_384
const tailLines = 20

function lastLines({ head, tail, droppedBytes }: CapturedOutput, mask: Mask): string {
  const isCut = droppedBytes > 0
  const output = mask(stripVTControlCharacters(isCut ? tail : head)).trim()
  // A cut text may begin inside a secret, which the mask does not recognise, so the first half is dropped.
  const visible = isCut ? output.slice(output.length / 2).replace(/^[^\n]*\n/, '') : output
  return visible.split('\n').slice(-tailLines).join('\n')
}

/** How long output may still arrive after the end of the server. */
const drainMs = 250

/**
 * Returns a transport over the pipes of a process, with one message per line. Unlike the official transport,
 * it reads an answer of any size in linear time, continues after one that is too large, and notices the end
 * of a server whose child processes keep the pipes open.
 */
function stdioTransport(options: {
  process: KeptProcess
  /** Maximum bytes of one message; a longer message is dropped, and its call fails. */
  messageLimit: number
  parse: (value: unknown) => JSONRPCMessage
  onGarbage: (line: string) => void
}): Transport {
  const { process, messageLimit, parse, onGarbage } = options
  const waiting = new Set<string | number>()
  let isClosed = false
  const transport: Transport = {
    async start() {
      const onData = splitLines(messageLimit, receive, refuse)
      process.stdout.on('data', onData)
      process.stdout.on('end', handleClose)
      void process.ended.then(() => setTimeout(handleClose, drainMs).unref())
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
      handleClose()
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
      if (isAwaited) fail(id, unusableAnswer, 'it is not a result as the protocol knows it')
      else onGarbage(text)
    }
  }

  function deliver(message: JSONRPCMessage): void {
    if ('method' in message) {
      transport.onmessage?.(message)
      return
    }
    if (message.id !== undefined) waiting.delete(message.id)
    // The client handles progress a tick later, and the answer must not arrive before it.
    queueMicrotask(() => transport.onmessage?.(message))
  }

  function fail(id: string | number, code: number, message: string): void {
    deliver({ jsonrpc: '2.0', id, error: { code, message } })
  }

  /** @param ends the message's beginning and end: the ID is before or after the result */
  function refuse(ends: string, bytes: number): void {
    const ids = [...ends.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, id]) => Number(id))
    const [only] = waiting
    const id = waiting.size === 1 ? only : ids.find((number) => waiting.has(number))
    if (id === undefined) return
    fail(id, answerTooLarge, `its answer of ${bytes} bytes is over the limit of ${messageLimit}`)
  }

  function handleClose(): void {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }
}

const endBytes = 512

/** Splits a stream into lines and stores at most `limit` bytes of each. */
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
    const line = Buffer.concat(parts)
    parts = [line.subarray(0, endBytes), line.subarray(-endBytes)].map((end) => Buffer.from(end))
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
