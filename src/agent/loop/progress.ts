import type { ModelMessage } from 'ai'
import type { Repetition } from './repetition.ts'

/** What a run has come to; the loop alone changes it. */
export interface Progress {
  /** Messages after the given ones. */
  added: ModelMessage[]
  /** Model calls. */
  turns: number
  /** Of the last answer; while one is streamed, what has come of it. */
  text: string
  /** Answers in a row that were empty, or not of the asked shape. */
  useless: number
  repetition?: Repetition | undefined
}
