import { type OptionOwner, rule } from '#core/api-options'
import { checkAgentOptions } from '#agent/check-options'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ModelMessage } from 'ai'
import { z } from 'zod'
import { loadConfiguration } from '#core/configuration'
import { exitCode, messageOf, reasonOf, StateFileError, systemCode } from '#core/errors'
import { acquireFileLock, elsewhereHint } from '#core/file-lock'
import { objectOf, parseJson } from '#core/json'
import { decrypt, encrypt, openSealer, type Sealer } from '#core/project-state'
import { findWorkspace, readRegularFile, sharedStore } from '#core/read-files'
import { redactValue, secretVariables } from '#core/redact'
import { projectStateDirectory, type Runtime, systemRuntime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { writeFileAtomicSync } from '#core/write-files'
import { aiSdk } from '#agent/ai-sdk'
import { ConversationError } from '#agent/errors'
import { jsonValue } from '#agent/tool'
import type { RunStatus, TokenUsage } from '#agent/types'
import { noUsage } from '#agent/usage'

/** A conversation without its messages. */
export interface ConversationInfo {
  id: string
  /** The beginning of the first prompt. */
  title: string
  /** Milliseconds since the epoch. */
  createdAt: number
  updatedAt: number
  /** The option `model` of the agent: `provider:name`, or the ID of a model object. */
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
  delegations: StoredDelegation[]
}

export interface StoredDelegation {
  id: string
  subagent: string
  messages: ModelMessage[]
  /** Tokens used so far. They count towards the token limit of a resumed delegation. */
  used?: TokenUsage | undefined
}

/** Stores conversations. Implement it to store them elsewhere, such as in a database. */
export interface ConversationStore {
  /** Returns all conversations, the last used one first. */
  list(): Promise<readonly ConversationInfo[]>
  /** Loads the conversation with this ID, with an ID that begins like this, or the `latest` one. */
  load(reference: string): Promise<Conversation>
  /** Stores a whole conversation and replaces its previous state. */
  save(conversation: Conversation): Promise<void>
  /** Locks a conversation against other agents and processes. Returns the function that unlocks it. */
  lock(id: string): Promise<() => void>
}

export interface ConversationFilesOptions {
  /** Default: the directory in which the command line stores conversations of the project. */
  directory?: string | undefined
  runtime?: Runtime | undefined
  settings?: Settings | undefined
}

const filesOptions: OptionOwner<ConversationFilesOptions> = {
  of: 'conversationFiles',
  rules: { directory: rule.text, runtime: rule.object, settings: rule.object },
}

/**
 * Stores each conversation in a file of mode 0600, which is replaced atomically. The newest 100
 * conversations are kept. The file masks secrets; the unmasked text in it is encrypted with the
 * user's key.
 *
 * @example
 * const agent = new Agent({ model, store: conversationFiles(), conversation: 'latest' })
 */
export function conversationFiles(options: ConversationFilesOptions = {}): ConversationStore {
  const { runtime = systemRuntime(), ...fileOptions } = checkAgentOptions(options, filesOptions)
  const settings = fileOptions.settings ?? loadConfiguration(runtime).settings
  const project = findWorkspace(runtime.cwd, runtime)
  const files: ConversationFiles = {
    directory:
      fileOptions.directory ??
      join(projectStateDirectory(project, { runtime, settings }), 'conversations'),
    runtime,
    sealer: openSealer({ runtime, settings }),
  }
  // Functions of the object itself: a program may spread it and replace one of them.
  return {
    list: () => listConversations(files),
    load: (reference) => loadConversation(reference, files),
    save: (conversation) => saveConversation(conversation, files),
    lock: (id) => lockConversation(id, files),
  }
}

/** The directory with the files of conversations, and what reading and writing them takes. */
interface ConversationFiles {
  directory: string
  runtime: Runtime
  sealer: Sealer
}

async function listConversations(files: ConversationFiles): Promise<readonly ConversationInfo[]> {
  const infos = await Promise.all(idsIn(files).map((id) => readInfo(id, files)))
  return infos.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
}

async function loadConversation(
  reference: string,
  files: ConversationFiles,
): Promise<Conversation> {
  const id =
    reference === 'latest'
      ? (await listConversations(files))[0]?.id
      : matchingId(reference, idsIn(files))
  if (id !== undefined) return await readConversation(id, files)
  const message = `There is no conversation ${reference} of this project.`
  const hint = 'List conversations with: skillrail agent list'
  throw new ConversationError({ code: 'conversation-unknown', message, hint }, exitCode.notFound)
}

async function saveConversation(
  conversation: Conversation,
  files: ConversationFiles,
): Promise<void> {
  const path = pathOf(conversation.id, files)
  try {
    refuseLink(path)
    const text = maskedText(conversation, files)
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
  // IDs that were made later sort after earlier ones.
  const outdatedIds = idsIn(files).toSorted().slice(0, -maxConversations)
  for (const id of outdatedIds) rmSync(pathOf(id, files), { force: true })
}

async function lockConversation(id: string, files: ConversationFiles): Promise<() => void> {
  const path = pathOf(id, files)
  const attempt = acquireFileLock(path)
  if (attempt.ok) return () => attempt.release()
  const { holder } = attempt
  const message = `The conversation ${id} is in use by process ${holder.pid} on ${holder.host}.`
  const hint = elsewhereHint(path, holder) ?? 'Wait for that process to end, or end it.'
  throw new ConversationError({ code: 'conversation-busy', message, hint })
}

const ending = '.json'
const version = 1
const maxConversations = 100
const maxBytes = 256 * 1024 * 1024

function pathOf(id: string, { directory }: ConversationFiles): string {
  return join(directory, `${id}${ending}`)
}

function idsIn({ directory }: ConversationFiles): string[] {
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

/** Returns the ID that a user means with its beginning; undefined if no ID begins like this. */
function matchingId(reference: string, ids: readonly string[]): string | undefined {
  if (ids.includes(reference)) return reference
  const matches = ids.filter((id) => reference !== '' && id.startsWith(reference))
  if (matches.length <= 1) return matches[0]
  const message = `${reference} is the beginning of ${matches.length} conversations: ${matches.join(', ')}.`
  throw new ConversationError({ code: 'conversation-ambiguous', message }, exitCode.usage)
}

/** The title of an unreadable conversation is the reason; the other conversations are still listed. */
async function readInfo(id: string, files: ConversationFiles): Promise<ConversationInfo> {
  try {
    const conversation = await readConversation(id, files)
    const { title, createdAt, updatedAt, model, status, usage } = conversation
    return { id, title, createdAt, updatedAt, model, status, usage }
  } catch (error) {
    const facts = { id, title: messageOf(error), model: '', usage: noUsage }
    return { ...facts, createdAt: 0, updatedAt: 0, status: 'unreadable' }
  }
}

async function readConversation(id: string, files: ConversationFiles): Promise<Conversation> {
  const path = pathOf(id, files)
  const file = readRegularFile(path, { maxBytes, own: true })
  if (!file.ok && file.code === 'file-shared') throw sharedStore(file.message)
  const content = file.ok ? parseJson(file.text) : undefined
  const { data } = (await conversationSchema()).safeParse(withSecrets(content, files))
  if (data && data.id === id) return data
  if (Number(objectOf(content)['version']) > version) {
    throw new StateFileError({
      code: 'conversation-newer',
      message: `The conversation ${path} was written by a newer version of Skillrail.`,
      hint: 'Update Skillrail.',
    })
  }
  const reason = file.ok ? 'it is not what was written there' : file.message
  throw new StateFileError({
    code: 'conversation-damaged',
    message: `The conversation ${path} cannot be read: ${reason}.`,
    hint: 'Restore the file, or delete it.',
  })
}

/** Secrets are masked; if there are any, `hidden` is the encrypted conversation with them. */
function maskedText(conversation: Conversation, { runtime, sealer }: ConversationFiles): string {
  const content = objectOf(jsonValue(conversation))
  const maskedContent = redactValue(content, secretVariables(runtime.env))
  const hidden = isDeepStrictEqual(maskedContent, content) ? undefined : encrypt(content, sealer)
  return JSON.stringify({ version, ...maskedContent, hidden })
}

/** Returns the conversation with its secrets; undefined if the user's key does not decrypt it. */
function withSecrets(content: unknown, { sealer }: ConversationFiles): unknown {
  const { hidden, ...maskedContent } = objectOf(content)
  if (typeof hidden !== 'string') return maskedContent
  try {
    return { version, ...objectOf(decrypt(hidden, sealer)) }
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
  return z.object({
    version: z.literal(version),
    id: z.string(),
    title: z.string(),
    createdAt: count,
    updatedAt: count,
    model: z.string(),
    status: z.enum(['completed', 'failed', 'cancelled', 'capped', 'waiting', 'running']),
    usage,
    messages,
    waiting: z.array(z.string()),
    skills: z.array(z.string()),
    delegations: z.array(
      z.object({ id: z.string(), subagent: z.string(), messages, used: usage.optional() }),
    ),
  })
}

/** Writing to a link would replace a file elsewhere, with the rights of the user. */
function refuseLink(path: string) {
  const file = readRegularFile(path, { maxBytes, own: true, binary: true })
  if (file.ok || file.code === 'file-missing') return
  const hint = 'Remove it, or keep conversations in another directory.'
  throw new StateFileError({ code: 'conversation-unwritable', message: `${file.message}.`, hint })
}
