import { redactText, secretVariables } from '../../core/redact.ts'
import type { Runtime } from '../../core/runtime.ts'
import { cutToColumns } from '../../core/text.ts'
import { failureText } from '../loop/results.ts'
import type { RunStatus, TokenUsage } from '../types.ts'
import { addUsage, noUsage, subtractUsage } from '../usage.ts'
import type { Conversation, ConversationInfo, ConversationStore } from './store.ts'

type State = Omit<Conversation, keyof ConversationInfo>

export interface KeeperOptions {
  store: ConversationStore
  /** The conversation to continue; default: a new one. */
  reference: string | undefined
  runtime: Pick<Runtime, 'now' | 'id' | 'env'>
  model: string
  state: () => State
  restore: (state: State) => void
  /** What the agent has used since it was made. */
  used: () => TokenUsage
  notice: (message: string) => void
}

/** Keeps the conversation of one agent in a store, step by step. */
export class ConversationKeeper {
  readonly #options: KeeperOptions
  #info: ConversationInfo | undefined
  /** Used by earlier processes. */
  #before = noUsage
  #hasFailed = false

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  get id(): string | undefined {
    return this.#info?.id
  }

  /** Takes the conversation for one run, with what others have added to it since the last one. */
  async begin(prompt: string | undefined): Promise<() => void> {
    const { store, reference } = this.#options
    this.#hasFailed = false
    const isNew = this.#info === undefined && reference === undefined
    if (isNew) this.#info = this.#create(prompt)
    const id = this.#info?.id ?? (await store.load(reference ?? '')).id
    const release = await store.lock(id)
    try {
      const known = isNew ? undefined : (await store.list()).find((one) => one.id === id)
      const seen = this.#info?.updatedAt ?? -1
      if (known !== undefined && known.updatedAt > seen) await this.#load(id)
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** What cannot be stored is a notice, once a run: the run continues. */
  async save(status: RunStatus | 'running'): Promise<void> {
    const { store, state, runtime, used, notice } = this.#options
    if (this.#info === undefined) return
    const updatedAt = Math.max(runtime.now(), this.#info.updatedAt + 1)
    this.#info = { ...this.#info, updatedAt, status, usage: addUsage(this.#before, used()) }
    try {
      await store.save({ ...this.#info, ...state() })
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
    this.#before = subtractUsage(info.usage, used())
  }
}
