import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ModelMessage } from 'ai'
import { z } from 'zod'
import { loadConfiguration } from '#core/configuration'
import { exitCode, messageOf, reasonOf, StateFileError, systemCode } from '#core/errors'
import { acquireFileLock } from '#core/file-lock'
import { objectOf, parseJson } from '#core/json'
import { decrypted, encrypted, openSealer, type Sealer } from '#core/project-state'
import { findWorkspace, readRegularFile, sharedStore } from '#core/read-files'
import { redactText, redactValue, secretVariables } from '#core/redact'
import { projectStateDirectory, type Runtime, systemRuntime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { cutToColumns } from '#core/text'
import { writeFileAtomicSync } from '#core/write-files'
import { aiSdk } from '#agent/ai-sdk'
import { ConversationError } from '#agent/errors'
import { failureText } from '#agent/loop/results'
import { jsonValue } from '#agent/tool'
import type { RunStatus, TokenUsage } from '#agent/types'
import { addUsage, noUsage, subtractUsage } from '#agent/usage'

/** A conversation without its messages. */
export interface ConversationInfo {
  id: string
  /** The beginning of the first prompt. */
  title: string
  /** Milliseconds since the epoch. */
  createdAt: number
  updatedAt: number
  /** As it was given: `provider:name`, or the ID of a model object. */
  model: string
  /** How the last run ended; `running` also after a crash. */
  status: RunStatus | 'running' | 'unreadable'
  usage: TokenUsage
}

/** Everything that another process needs to continue. Plain JSON. */
export interface Conversation extends ConversationInfo {
  messages: ModelMessage[]
  /** IDs of calls that wait for an approval. */
  waiting: string[]
  /** Skills that were active, `name arguments`. */
  skills: string[]
  /** Finished delegations that can be resumed. */
  delegations: {
    id: string
    subagent: string
    messages: ModelMessage[]
    /** What its limit of tokens counts from when it is resumed. */
    used?: TokenUsage | undefined
  }[]
}

type State = Omit<Conversation, keyof ConversationInfo>

/** Where conversations are kept. Implement it to keep them elsewhere, in a database say. */
export interface ConversationStore {
  /** The one that was used last comes first. */
  list(): Promise<readonly ConversationInfo[]>
  /** Finds one by its ID, a unique beginning of it, or `latest`. */
  load(reference: string): Promise<Conversation>
  /** Keeps a whole conversation, in place of what is there. */
  save(conversation: Conversation): Promise<void>
  /** Keeps others from working on it, until the function that is returned is called. */
  lock(id: string): Promise<() => void>
}

export interface ConversationFilesOptions {
  /** Default: where the command line keeps those of the project. */
  directory?: string | undefined
  runtime?: Runtime | undefined
  settings?: Settings | undefined
}

/**
 * Keeps each conversation in a file of mode 0600 that is replaced as a whole. The newest 100 stay.
 * What looks like a secret is masked there, and whole only under the key of the user.
 *
 * @example
 * const agent = new Agent({ model, store: conversationFiles(), conversation: 'latest' })
 */
export function conversationFiles(options: ConversationFilesOptions = {}): ConversationStore {
  const { runtime = systemRuntime() } = options
  const settings = options.settings ?? loadConfiguration(runtime).settings
  const project = findWorkspace(runtime.cwd, runtime)
  const directory =
    options.directory ??
    join(projectStateDirectory(project, { runtime, settings }), 'conversations')
  const code = openSealer({ runtime, settings })
  const pathOf = (id: string) => join(directory, `${id}${ending}`)
  const infos = async (): Promise<readonly ConversationInfo[]> => {
    const all = await Promise.all(idsIn(directory).map((id) => readInfo(pathOf(id), id, code)))
    return all.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  }
  return {
    list: infos,
    async load(reference) {
      const id = reference === 'latest' ? (await infos())[0]?.id : idOf(reference, idsIn(directory))
      if (id !== undefined) return await read(pathOf(id), id, code)
      const hint = 'List conversations with: skillrail agent list'
      const message = `There is no conversation ${reference} of this project.`
      throw new ConversationError(
        { code: 'conversation-unknown', message, hint },
        exitCode.notFound,
      )
    },
    async save(conversation) {
      const path = pathOf(conversation.id)
      try {
        refuseLink(path)
        const whole = objectOf(jsonValue(conversation))
        const masked = redactValue(whole, secretVariables(runtime.env))
        const hidden = isDeepStrictEqual(masked, whole) ? undefined : encrypted(whole, code)
        const text = JSON.stringify({ version, ...masked, hidden })
        writeFileAtomicSync(path, `${text}\n`, { mode: 0o600 })
      } catch (error) {
        if (error instanceof StateFileError) throw error
        throw new StateFileError({
          code: 'conversation-unwritten',
          message: `The conversation ${conversation.id} could not be stored: ${reasonOf(error)}.`,
          hint: 'What was stored before is whole. Free some space; the next step tries again.',
          cause: error,
        })
      }
      const old = idsIn(directory).toSorted().slice(0, -keptConversations)
      for (const id of old) rmSync(pathOf(id), { force: true })
    },
    async lock(id) {
      const attempt = acquireFileLock(pathOf(id))
      if (attempt.ok) return () => attempt.release()
      const { pid, host } = attempt.holder
      const message = `The conversation ${id} is in use by process ${pid} on ${host}.`
      const hint = 'Wait for that process to end, or end it.'
      throw new ConversationError({ code: 'conversation-busy', message, hint })
    },
  }
}

const ending = '.json'
const version = 1
const keptConversations = 100
const maxBytes = 256 * 1024 * 1024

function idsIn(directory: string): string[] {
  try {
    return readdirSync(directory).flatMap((name) => {
      const id = name.slice(0, -ending.length)
      return name.endsWith(ending) && /^[0-9a-z]+$/.test(id) ? id : []
    })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    const message = `${directory} cannot be read: ${reasonOf(error)}`
    throw new StateFileError({ code: 'conversations-unreadable', message, cause: error })
  }
}

function idOf(reference: string, ids: readonly string[]) {
  if (ids.includes(reference)) return reference
  const found = ids.filter((id) => reference !== '' && id.startsWith(reference))
  if (found.length <= 1) return found[0]
  const message = `${reference} is the beginning of ${found.length} conversations: ${found.join(', ')}.`
  throw new ConversationError({ code: 'conversation-ambiguous', message }, exitCode.usage)
}

/** One that cannot be read says why in place of its title, and hides no other. */
async function readInfo(path: string, id: string, code: Sealer): Promise<ConversationInfo> {
  try {
    const { title, createdAt, updatedAt, model, status, usage } = await read(path, id, code)
    return { id, title, createdAt, updatedAt, model, status, usage }
  } catch (error) {
    const facts = { id, title: messageOf(error), model: '', usage: noUsage }
    return { ...facts, createdAt: 0, updatedAt: 0, status: 'unreadable' }
  }
}

async function read(path: string, id: string, code: Sealer): Promise<Conversation> {
  const file = readRegularFile(path, { maxBytes, own: true })
  if (!file.ok && file.code === 'file-shared') throw sharedStore(file.message)
  const found = file.ok ? parseJson(file.text) : undefined
  const isLater = Number(objectOf(found)['version']) > version
  const { data } = (await conversationSchema()).safeParse(revealed(found, code))
  if (data && data.id === id) return data
  const why = file.ok ? 'it is not what was written there' : file.message
  const problem = isLater ? 'was written by a newer version of Skillrail' : `cannot be read: ${why}`
  throw new StateFileError({
    code: isLater ? 'conversation-newer' : 'conversation-damaged',
    message: `The conversation ${path} ${problem}.`,
    hint: isLater ? 'Update Skillrail.' : 'Restore the file, or delete it.',
  })
}

/** The conversation as it was before `save` masked it. */
function revealed(found: unknown, code: Sealer): unknown {
  const { hidden, ...whole } = objectOf(found)
  if (typeof hidden !== 'string') return whole
  try {
    return { version, ...objectOf(decrypted(hidden, code)) }
  } catch {
    return undefined
  }
}

async function conversationSchema() {
  const { modelMessageSchema } = await aiSdk()
  const messages = z.array(modelMessageSchema)
  const count = z.number()
  const usage = z.object({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    reasoningTokens: count,
    requests: count,
  })
  const id = z.string()
  const delegation = z.object({ id, subagent: z.string(), messages, used: usage.optional() })
  return z.object({
    version: z.literal(version),
    id,
    title: z.string(),
    createdAt: count,
    updatedAt: count,
    model: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'capped', 'waiting', 'running']),
    usage,
    messages,
    waiting: z.array(z.string()),
    skills: z.array(z.string()),
    delegations: z.array(delegation),
  })
}

/** A link could lead to anything that the user can write. */
function refuseLink(path: string) {
  const file = readRegularFile(path, { maxBytes, own: true, binary: true })
  if (file.ok || file.code === 'file-missing') return
  const hint = 'Remove it, or keep conversations in another directory.'
  throw new StateFileError({ code: 'conversation-unwritable', message: `${file.message}.`, hint })
}

interface KeeperOptions {
  store: ConversationStore
  /** The conversation to continue; default: a new one. */
  reference: string | undefined
  runtime: Pick<Runtime, 'now' | 'id' | 'env'>
  model: string
  state: () => State
  restore: (state: State) => void
  used: () => TokenUsage
  notice: (message: string) => void
}

/** Keeps the conversation of one agent in a store, step by step. */
export class ConversationKeeper {
  readonly #options: KeeperOptions
  #info: ConversationInfo | undefined
  /** The `updatedAt` of what this agent stored or loaded last; any other one is of somebody else. */
  #stored: number | undefined
  /** Used by earlier processes. */
  #before = noUsage
  #hasFailed = false

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  get id() {
    return this.#info?.id
  }

  /** Takes the conversation for one run, with what others have added to it since the last one. */
  async begin(prompt: string | undefined): Promise<() => void> {
    const { store, reference } = this.#options
    this.#hasFailed = false
    const isNew = !this.#info && reference === undefined
    if (isNew) this.#info = this.#create(prompt)
    const id = this.#info?.id ?? (await store.load(reference ?? '')).id
    const release = await store.lock(id)
    try {
      const known = isNew ? undefined : (await store.list()).find((one) => one.id === id)
      if (known && known.updatedAt !== this.#stored) await this.#load(id)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** What cannot be stored is a notice, once a run: the run continues. */
  async save(status: RunStatus | 'running'): Promise<void> {
    const { store, state, runtime, used, notice } = this.#options
    if (!this.#info) return
    const updatedAt = Math.max(runtime.now(), this.#info.updatedAt + 1)
    this.#info = { ...this.#info, updatedAt, status, usage: addUsage(this.#before, used()) }
    try {
      await store.save({ ...this.#info, ...state() })
      this.#stored = updatedAt
    } catch (error) {
      if (!this.#hasFailed) notice(failureText(error))
      this.#hasFailed = true
    }
  }

  #create(prompt: string | undefined): ConversationInfo {
    const { runtime, model } = this.#options
    const shown = redactText(prompt ?? '', secretVariables(runtime.env))
    const title = cutToColumns(shown.replaceAll(/\s+/g, ' ').trim(), 80)
    const createdAt = runtime.now()
    const times = { createdAt, updatedAt: createdAt }
    return { id: runtime.id(), title, ...times, model, status: 'running', usage: noUsage }
  }

  async #load(id: string): Promise<void> {
    const { store, restore, used } = this.#options
    const { messages, waiting, skills, delegations, ...info } = await store.load(id)
    restore({ messages, waiting, skills, delegations })
    this.#info = info
    this.#stored = info.updatedAt
    this.#before = subtractUsage(info.usage, used())
  }
}
