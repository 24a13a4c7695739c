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

export type Construct = keyof typeof constructs

const shell: readonly PatternEngine[] = ['grep', 'awk']
const all: readonly PatternEngine[] = ['grep', 'awk', 'JavaScript']

/** Measured with GNU grep 3.8, mawk 1.3.4, gawk --posix, busybox and V8. */
export const constructs = {
  'perl-class': [
    shell,
    'grep and awk read the letter behind the backslash, or a class of their own',
  ],
  'word-boundary': [['awk'], 'awk knows no word boundary'],
  'posix-class': [
    ['JavaScript'],
    'JavaScript reads the letters of the name, a colon and a bracket',
  ],
  'class-escape': [['grep', 'JavaScript'], 'grep reads a backslash inside brackets as itself'],
  'class-bracket': [['JavaScript'], 'JavaScript reads a leading ] as the end of an empty class'],
  'class-non-ascii': [shell, 'mawk, and grep without a UTF-8 locale, read single bytes'],
  lazy: [
    shell,
    'grep and awk read the second sign as another repetition, so that nothing matches too',
  ],
  'group-syntax': [shell, 'grep reads the question mark as text, awk refuses it'],
  flags: [all, 'only RE2 reads flags in the pattern'],
  interval: [['awk'], 'mawk before 1.3.4-20200717 reads braces as text'],
  'literal-brace': [['awk', 'JavaScript'], 'some engines refuse a brace that begins no interval'],
  'control-escape': [shell, 'grep reads the letter behind the backslash'],
  'unicode-class': [all, 'only RE2 reads a Unicode class without a flag'],
  'text-anchor': [all, 'other engines read the letter; ^ and $ mean the same here'],
  'needless-escape': [all, 'grep warns of a needless backslash, and newer engines refuse it'],
  'gnu-anchor': [['grep'], 'GNU grep reads an anchor, Skillrail and RE2 the character itself'],
  'empty-branch': [['awk'], 'mawk refuses an empty alternative or group'],
  'anchor-inside': [shell, 'engines disagree about an anchor in the middle or under a repetition'],
} as const satisfies Record<string, readonly [readonly PatternEngine[], string]>
