import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '@modelcontextprotocol/client'
import { messageOf, systemCode } from '../../core/errors.ts'
import type { Runtime } from '../../core/runtime.ts'
import { type KeptProcess, startKeptProcess } from '../../exec/kept-process.ts'
import { type ProcessEnd, whatIsMissing } from '../../exec/process.ts'
import type { ServerDefinition, ServerTransport } from '../config/model.ts'
import { createCallRecords, hasCode } from './call-failure.ts'
import type { OpenedServer, OpenOptions } from './connection.ts'
import { ServerStartError } from './errors.ts'
import type { Mask } from './mask-secrets.ts'
import { loadSdk } from './sdk.ts'
import { stdioTransport } from './stdio-transport.ts'

export async function openStdio(
  definition: ServerDefinition,
  transport: ServerTransport & { kind: 'stdio' },
  options: OpenOptions,
): Promise<OpenedServer> {
  const { runtime, project, note, signal, mask } = options
  const [sdk, process] = await Promise.all([
    loadSdk(),
    startProcess(definition, transport, options),
  ])
  const stderr = createTextTail(mask)
  process.stderr.on('data', (chunk: Buffer) => stderr.add(chunk))
  const garbage: string[] = []
  const records = createCallRecords()
  const pipe = stdioTransport({
    process,
    records,
    messageLimit: options.answerLimit,
    parse: sdk.parseJSONRPCMessage,
    onGarbage(line) {
      const shown = mask(line.slice(0, longestGarbage)).slice(0, 200)
      if (garbage.length === 0)
        note({
          code: 'server-garbage',
          message: `it prints to stdout what is not a message: ${shown}`,
        })
      if (garbage.length < 5) garbage.push(shown)
    },
  })
  let ended: ProcessEnd | undefined
  void process.ended.then((end) => (ended = end))
  const ending = async (): Promise<string | undefined> => {
    // The end of the process is seen a moment after that of its pipes.
    if (ended === undefined)
      await Promise.race([process.ended, new Promise((resolve) => setTimeout(resolve, 100))])
    return ended === undefined ? undefined : [endingText(ended), lastOutput(stderr.text())].join('')
  }

  const client = new sdk.Client(options.clientInfo, { capabilities: rootsCapability })
  answerRoots(client, transport.args, transport.cwd ?? project)
  try {
    await client.connect(pipe, { timeout: definition.startupTimeoutMs, signal })
  } catch (error) {
    // First, because the end of the process is news only while it was not ours.
    const said = await ending()
    const end = (hasFailed(ended) ? missing(transport) : undefined) ?? said
    await process.end()
    throw new ServerStartError(
      {
        server: definition.name,
        message: mask(
          startFailure(definition, error, {
            end,
            garbage,
            stderr: stderr.text(),
            aborted: signal.aborted,
          }),
        ),
        stderrTail: stderr.text() || garbage.join('\n'),
        kind: signal.aborted ? 'cancelled' : undefined,
      },
      { cause: error },
    )
  }
  return {
    client,
    transport: pipe,
    records,
    instance: `${process.pid}-${runtime.id()}`,
    ending,
    async close() {
      try {
        await client.close()
      } finally {
        // The client has let go of a transport that broke; what a crashed server started still runs.
        await process.end()
      }
    },
  }

  /** What the system says nothing of, in the words that scripts get. */
  function missing({
    command,
    cwd,
  }: Pick<typeof transport, 'command' | 'cwd'>): string | undefined {
    return whatIsMissing({ file: command, cwd: cwd ?? project })
  }

  function startProcess(
    server: ServerDefinition,
    { command, args, env, cwd }: ServerTransport & { kind: 'stdio' },
    { runtime: world }: OpenOptions,
  ): Promise<KeptProcess> {
    return startKeptProcess({
      file: command,
      args,
      cwd: cwd ?? project,
      env: serverEnvironment(world, env),
      key: `server-${world.id()}`,
    }).catch((error: unknown) => {
      const reason = missing({ command, cwd }) ?? notStarted(command, error)
      throw new ServerStartError(
        {
          server: server.name,
          message: mask(`The server ${server.name} could not be started: ${reason}`),
        },
        { hint: `Its configuration is in ${server.source.path}.`, cause: error },
      )
    })
  }
}

function notStarted(command: string, error: unknown): string {
  const code = systemCode(error)
  const isPath = command.includes('/')
  if (code === 'ENOENT') {
    return isPath
      ? `there is no program ${command}`
      : `there is no program ${command} on the search path that can be started`
  }
  return code === 'EACCES' ? `permission to execute ${command} is denied` : messageOf(error)
}

function hasFailed(end: ProcessEnd | undefined): boolean {
  return end?.kind === 'exit' && end.code !== 0
}

/** Characters of a line that is not a message, of which the first are shown. */
const longestGarbage = 8192

function startFailure(
  { name, startupTimeoutMs }: ServerDefinition,
  error: unknown,
  seen: { end: string | undefined; garbage: readonly string[]; stderr: string; aborted: boolean },
): string {
  if (seen.aborted) return `The start of the server ${name} was cancelled`
  // Otherwise it was ended by us, because of the error.
  const hasEnded = hasCode(error, 'CONNECTION_CLOSED') || hasCode(error, 'EPIPE')
  if (hasEnded && seen.end !== undefined) return `The server ${name} did not start: ${seen.end}`
  const reason = hasCode(error, 'REQUEST_TIMEOUT')
    ? `it gave no answer within ${startupTimeoutMs} ms`
    : messageOf(error)
  const printed =
    seen.garbage.length > 0 ? `; it printed ${JSON.stringify(seen.garbage[0])} to stdout` : ''
  return `The server ${name} did not start: ${reason}${printed}${lastOutput(seen.stderr)}`
}

function endingText(end: ProcessEnd): string {
  if (end.kind === 'exit') return `it ended with exit code ${end.code}`
  return end.kind === 'signal' ? `it was ended by ${end.signal}` : 'it ended'
}

function lastOutput(stderr: string): string {
  return stderr === '' ? '' : `. Its last error output:\n${stderr}`
}

/** The capability to say where a server may work; {@link answerRoots} has to be called with it. */
const rootsCapability = { roots: {} } as const

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
  const roots = (named.length > 0 ? named : [project]).map((directory) => ({
    uri: pathToFileURL(directory).href,
  }))
  client.setRequestHandler('roots/list', () => ({ roots }))
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * The environment of a server: what a client passes on by default, credentials left out, and what
 * its configuration says, which takes precedence.
 */
function serverEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = runtime.platform === 'win32' ? passedOnWindows : passedOn
  const wanted = new Set<string>(names)
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(runtime.env)) {
    const key = runtime.platform === 'win32' ? name.toUpperCase() : name
    // A value that begins so is a function that a shell exported.
    if (value === undefined || value.startsWith('()')) continue
    if (wanted.has(key) || key.startsWith('LC_')) environment[name] = value
  }
  return { ...environment, ...configured }
}

/** Whose home it is, where programs are, the locale, and the screen that a browser opens on. */
const passedOn = [
  'HOME',
  'LOGNAME',
  'USER',
  'PATH',
  'SHELL',
  'TERM',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
] as const

const passedOnWindows = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
] as const

/** Keeps the end of a stream of text. */
interface TextTail {
  add(chunk: Buffer): void
  /** The last lines, masked, without the escapes that colour a terminal. */
  text(): string
}

const keptBytes = 16_384
const keptLines = 20

function createTextTail(mask: Mask): TextTail {
  let kept = Buffer.alloc(0)
  let isCut = false
  return {
    add(chunk) {
      const all = Buffer.concat([kept, chunk.subarray(-keptBytes)])
      isCut ||= all.length > keptBytes || chunk.length > keptBytes
      kept = all.length > keptBytes ? all.subarray(all.length - keptBytes) : all
    },
    text() {
      const whole = mask(kept.toString('utf8').replace(escapes, ''))
      const lines = (isCut ? withoutBeginning(whole) : whole).trim().split('\n')
      return lines.slice(-keptLines).join('\n')
    },
  }
}

/** It may begin within a secret, which no mask knows then; of what is kept, half is for that. */
function withoutBeginning(text: string): string {
  const half = text.trimEnd().slice(text.length / 2)
  return half.slice(half.indexOf('\n') + 1)
}

const escapes = /\u001b\[[0-9;]*[A-Za-z]/g
