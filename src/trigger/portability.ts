/** An engine that may read a trigger: a hook in awk, an exported script, another client. */
type PatternEngine = 'grep' | 'awk' | 'JavaScript'

/** A construct outside the portable subset, where it stands, and how it can be said portably. */
export interface PortabilityNote {
  construct: Construct
  /** UTF-16 offsets into the pattern. */
  start: number
  end: number
  text: string
  /** Who reads it differently from Skillrail, which reads it as RE2 does. */
  engines: readonly PatternEngine[]
  message: string
  /** The same meaning in the portable subset; undefined where there is none. */
  rewrite?: string | undefined
}

export type Construct = keyof typeof constructTable

interface ConstructFacts {
  engines: readonly PatternEngine[]
  message: string
}

/** Measured with GNU grep 3.8, mawk 1.3.4, gawk --posix, busybox and V8. */
const constructTable = {
  'perl-class': {
    engines: ['grep', 'awk'],
    message: 'grep and awk read the letter behind the backslash, or a class of their own',
  },
  'word-boundary': { engines: ['awk'], message: 'awk knows no word boundary' },
  'posix-class': {
    engines: ['JavaScript'],
    message: 'JavaScript reads the letters of the name, a colon and a bracket',
  },
  'class-escape': {
    engines: ['grep', 'JavaScript'],
    message: 'grep reads a backslash inside brackets as itself',
  },
  'class-bracket': {
    engines: ['JavaScript'],
    message: 'JavaScript reads a leading ] as the end of an empty class',
  },
  'class-non-ascii': {
    engines: ['grep', 'awk'],
    message: 'mawk, and grep without a UTF-8 locale, read single bytes',
  },
  lazy: {
    engines: ['grep', 'awk'],
    message: 'grep and awk read the second sign as another repetition, so that nothing matches too',
  },
  'group-syntax': {
    engines: ['grep', 'awk'],
    message: 'grep reads the question mark as text, awk refuses it',
  },
  flags: { engines: ['grep', 'awk', 'JavaScript'], message: 'only RE2 reads flags in the pattern' },
  interval: { engines: ['awk'], message: 'mawk before 1.3.4-20200717 reads braces as text' },
  'literal-brace': {
    engines: ['awk', 'JavaScript'],
    message: 'some engines refuse a brace that begins no interval',
  },
  'control-escape': {
    engines: ['grep', 'awk'],
    message: 'grep reads the letter behind the backslash',
  },
  'unicode-class': {
    engines: ['grep', 'awk', 'JavaScript'],
    message: 'only RE2 reads a Unicode class without a flag',
  },
  'text-anchor': {
    engines: ['grep', 'awk', 'JavaScript'],
    message: 'other engines read the letter; ^ and $ mean the same here',
  },
  'needless-escape': {
    engines: ['grep', 'awk', 'JavaScript'],
    message: 'grep warns of a needless backslash, and newer engines refuse it',
  },
  'gnu-anchor': {
    engines: ['grep'],
    message: 'GNU grep reads an anchor, Skillrail and RE2 the character itself',
  },
  'empty-branch': { engines: ['awk'], message: 'mawk refuses an empty alternative or group' },
  'anchor-inside': {
    engines: ['grep', 'awk'],
    message: 'engines disagree about an anchor in the middle or under a repetition',
  },
} as const satisfies Record<string, ConstructFacts>

export function portabilityNote(
  construct: Construct,
  pattern: string,
  start: number,
  end: number,
  rewrite?: string,
): PortabilityNote {
  const { engines, message } = constructTable[construct]
  return { construct, start, end, text: pattern.slice(start, end), engines, message, rewrite }
}
