import type { FieldName } from './route.ts'

/** How much a word counts in a field, and how strongly a long field dilutes it (0 to 1). */
export interface FieldWeight {
  field: FieldName
  weight: number
  dilution: number
  /** The part of it that a verb of looking counts: in prose it says little. Default 1. */
  lookingVerb?: number | undefined
}

/**
 * Chosen on MetaTool's queries alone, in coarse steps on a wide plateau: half or twice any of them
 * moves Recall@1 there by less than a point.
 */
export const fieldWeights: readonly FieldWeight[] = [
  { field: 'name', weight: 3, dilution: 0.3 },
  { field: 'description', weight: 1, dilution: 0.75, lookingVerb: 0.3 },
  { field: 'parameters', weight: 0.4, dilution: 0.5 },
  { field: 'server', weight: 1, dilution: 0.3 },
  { field: 'examples', weight: 1, dilution: 0.5 },
]

export const weights = {
  /** How soon another occurrence of a word stops counting (BM25's k1). */
  saturation: 1.6,
  /** A word of the manners of asking. */
  weakWord: 0.3,
  /** A word inside a URL, a path, a number and the like. */
  typedPiece: 0.2,
  /** What the kind of a typed piece says: `url` for a URL. */
  typedKind: 0.5,
  /** A word that no tool has, for one that is spelled alike. */
  similarWord: 0.25,
  /** Lowest likeness of two spellings, 0 to 1 (Dice, on trigrams). */
  similarity: 0.5,
  synonym: 0.5,
  subject: 0.5,
  /** How soon further words of one subject stop counting. */
  subjectSaturation: 3,
  /** The part of synonyms and subjects that is left for a word which some tool has itself. */
  knownWord: 0.5,
  /** What an abbreviation stands for. */
  abbreviation: 0.8,
  /** A category that words of the request are keywords of. */
  category: 0.05,
  /** The part of its score that a tool loses which changes something nobody asked to change. */
  reserve: 0.05,
  /** A name all of whose words are in the request. */
  wholeName: 0.4,
  /** A tool that takes all the typed pieces of a request and requires nothing else, in units. */
  takes: 2.5,
  /** The part of its score that a tool loses which has no place for any of a request of pieces. */
  lacksPlace: 1,
  /** A request that was confirmed before, almost word by word. */
  askedBefore: 1.5,
  /** The part of the score that a correction of the same request takes away. */
  corrected: 0.6,
  /** Cosine of the meanings, where an embedding is configured; in units of a rare word. */
  meaning: 2.5,
} as const

/** When a route may be an answer; chosen on MetaTool for 85 of 100 answers to be right. */
export const decisionLimits = {
  /** Lead over the second, divided by the root of the score. */
  lead: 0.875,
  /** The same, where confirmed examples speak for the first. */
  leadWithExamples: 0.7,
  /** Evidence below which the request is asked for again. */
  evidence: 0.5,
} as const
