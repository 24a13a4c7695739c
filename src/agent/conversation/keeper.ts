import { redactText, secretVariables } from '#core/redact'
import type { Runtime } from '#core/runtime'
import { cutToColumns } from '#core/text'
import { failureText } from '#agent/loop/results'
import type { RunStatus, TokenUsage } from '#agent/types'
import { addUsage, noUsage, subtractUsage } from '#agent/usage'
import type { Conversation, ConversationInfo, ConversationStore } from './store.ts'

/** The part of a conversation that the agent itself holds while it works. */
export type ConversationState = Omit<Conversation, keyof ConversationInfo>

interface KeeperOptions {
  store: ConversationStore
  /** The conversation to continue; default: a new one. */
  reference: string | undefined
  runtime: Pick<Runtime, 'now' | 'id' | 'env'>
  model: string
  /** Returns the agent's current state, to be stored. */
  state: () => ConversationState
  /** Replaces the agent's state by a stored one. */
  restore: (state: ConversationState) => void
  /** Tokens that this agent has used in this process. */
  used: () => TokenUsage
  notice: (message: string) => void
}

/**
 * Stores an agent's conversation after every step, and loads it when another agent has changed it.
 * One run is `begin`, any number of `save`, and the function that `begin` returned.
 */
export class ConversationKeeper {
  readonly #options: KeeperOptions
  #info: ConversationInfo | undefined
  /** The ID of a new conversation, once something has asked for it. */
  #reservedId: string | undefined
  /** The `updatedAt` that this agent stored or loaded last. The store has another one after a change by others. */
  #lastUpdate: number | undefined
  /** Tokens that earlier processes used for this conversation. */
  #usedBefore = noUsage
  #hasFailedToSave = false

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  get id() {
    return this.#info?.id
  }

  /** The ID that the conversation has or will have; undefined until a stored one has been loaded. */
  get sessionId(): string | undefined {
    if (this.#info) return this.#info.id
    return this.#options.reference === undefined ? this.#reserveId() : undefined
  }

  /** Locks the conversation for a run and loads the changes of others. Returns the function that unlocks it. */
  async begin(prompt: string | undefined): Promise<() => void> {
    const { store, reference } = this.#options
    this.#hasFailedToSave = false
    const isNew = !this.#info && reference === undefined
    if (isNew) this.#info = this.#newInfo(prompt)
    const id = this.#info?.id ?? (await store.load(reference ?? '')).id
    const release = await store.lock(id)
    try {
      if (!isNew) await this.#loadChanges(id)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** A failure to store is reported once in a run, and the run continues. */
  async save(status: RunStatus | 'running'): Promise<void> {
    const { store, state, runtime, used, notice } = this.#options
    if (!this.#info) return
    const updatedAt = Math.max(runtime.now(), this.#info.updatedAt + 1)
    this.#info = { ...this.#info, updatedAt, status, usage: addUsage(this.#usedBefore, used()) }
    try {
      await store.save({ ...this.#info, ...state() })
      this.#lastUpdate = updatedAt
    } catch (error) {
      if (!this.#hasFailedToSave) notice(failureText(error))
      this.#hasFailedToSave = true
    }
  }

  #newInfo(prompt = ''): ConversationInfo {
    const { runtime, model } = this.#options
    const text = redactText(prompt, secretVariables(runtime.env))
    const createdAt = runtime.now()
    return {
      id: this.#reserveId(),
      title: cutToColumns(text.replaceAll(/\s+/g, ' ').trim(), 80),
      createdAt,
      updatedAt: createdAt,
      model,
      status: 'running',
      usage: noUsage,
    }
  }

  #reserveId(): string {
    return (this.#reservedId ??= this.#options.runtime.id())
  }

  async #loadChanges(id: string): Promise<void> {
    const { store, restore, used } = this.#options
    const storedInfo = (await store.list()).find((info) => info.id === id)
    if (!storedInfo || storedInfo.updatedAt === this.#lastUpdate) return
    const { messages, waiting, skills, delegations, ...info } = await store.load(id)
    restore({ messages, waiting, skills, delegations })
    this.#info = info
    this.#lastUpdate = info.updatedAt
    this.#usedBefore = subtractUsage(info.usage, used())
  }
}
