import type { Ranking, RankPart } from '../../rank/ranker.ts'
import type { Slot } from '../parameters/slots.ts'

/** Where a request leads. */
export interface Route {
  /**
   * `answer`: one tool is clearly meant. `shortlist`: it is one of the candidates. `ask`: nothing
   * fits well enough to be offered without a question.
   */
  decision: 'answer' | 'shortlist' | 'ask'
  /** Category of the first candidate. */
  category?: string | undefined
  /** Id of the first candidate; undefined with `ask`. */
  tool?: string | undefined
  /** How far the first candidate is ahead of the second, as a part of its score: 0 to 1. */
  margin: number
  /** The probability that the first candidate is meant: 0 to 1. */
  probability: number
  /** Best first; equal scores in code-point order of their ids. */
  candidates: readonly {
    /** Id of the tool. */
    tool: string
    /** Evidence, where 1 is one word that no other tool has. */
    score: number
    /** Why the tool's server cannot be reached: configured, but failing. */
    unavailable?: string | undefined
  }[]
  /** What the request is about: its words in phrases, without grammar and typed pieces. */
  intent: readonly string[]
  /** The typed pieces of the request. */
  slots: readonly Slot[]
  /** Ids of tools that the request calls by their names. */
  named: readonly string[]
}

export interface RouteExplanation extends Pick<Ranking, 'words'> {
  route: Route
  candidates: readonly {
    tool: string
    score: number
    /** Parts of the score, greatest first, besides those of the ranker `called by name`. */
    parts: readonly RankPart[]
    /** Why it stands before the next candidate; undefined for the last one. */
    aheadOfNext?: string | undefined
  }[]
}

/** A request that once led to a tool, or must not lead to it. */
export interface RouteExample {
  request: string
  /** Id of the tool. */
  tool: string
  /** 0 to 1: how fresh and how often confirmed it is. Default 1. */
  weight?: number | undefined
  /** The tool was wrong for this request. */
  wrong?: boolean | undefined
}
