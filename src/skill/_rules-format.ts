import { referenceRules } from './_rules-reference.ts'

const frontmatterSection = 'https://agentskills.io/specification#frontmatter'
const yaml12 = 'https://yaml.org/spec/1.2.2/'

/** The rules about the file and its YAML, which hold before any field is looked at. */
const fileRules = {
  'file-not-utf8': {
    severity: 'error',
    sentence: 'A `SKILL.md` is UTF-8 text.',
    source: 'https://agentskills.io/specification#skill-md-format',
  },
  'file-nul': {
    severity: 'error',
    sentence: 'A `SKILL.md` contains no NUL character.',
    source: 'https://agentskills.io/specification#skill-md-format',
  },
  'file-too-large': {
    severity: 'error',
    sentence: 'A `SKILL.md` has at most 1 MiB; longer material belongs into references.',
    source: 'https://agentskills.io/specification#progressive-disclosure',
  },
  'byte-order-mark': {
    severity: 'warning',
    sentence: 'A `SKILL.md` begins with `---`, not with a byte order mark.',
    source: frontmatterSection,
  },
  'frontmatter-missing': {
    severity: 'error',
    sentence: 'A `SKILL.md` begins with a line `---` that opens its frontmatter.',
    source: frontmatterSection,
  },
  'frontmatter-unclosed': {
    severity: 'error',
    sentence: 'The frontmatter ends with a line `---`.',
    source: frontmatterSection,
  },
  'frontmatter-too-large': {
    severity: 'error',
    sentence: 'A frontmatter has at most 64 KiB.',
    source: frontmatterSection,
  },
  'frontmatter-empty': {
    severity: 'error',
    sentence: 'A frontmatter has at least `name` and `description`.',
    source: frontmatterSection,
  },
  'frontmatter-not-mapping': {
    severity: 'error',
    sentence: 'A frontmatter is a YAML mapping.',
    source: frontmatterSection,
  },
  'yaml-syntax': {
    severity: 'error',
    sentence: 'The frontmatter is valid YAML.',
    source: yaml12,
  },
  'yaml-several-documents': {
    severity: 'error',
    sentence: 'The frontmatter is one YAML document.',
    source: `${yaml12}#chapter-9-document-stream-productions`,
  },
  'yaml-duplicate-key': {
    severity: 'error',
    sentence: 'No mapping has a key twice.',
    source: `${yaml12}#mapping`,
  },
  'yaml-key-form': {
    severity: 'error',
    sentence: 'A key is one scalar, not a list or a mapping.',
    source: 'https://agentskills.io/specification#metadata-field',
  },
  'yaml-reserved-key': {
    severity: 'error',
    sentence: 'No key is `__proto__`, `constructor` or `prototype`.',
    source: 'Skillrail: such keys reach the prototype of objects made from the frontmatter',
  },
  'yaml-anchor': {
    severity: 'error',
    sentence: 'The frontmatter has no anchors (`&name`) and no aliases (`*name`).',
    source: 'Skillrail: aliases multiply, and the reference validator refuses them',
  },
  'yaml-tag': {
    severity: 'error',
    sentence: 'The frontmatter has no tags (`!name`).',
    source: 'Skillrail: the reference validator refuses them',
  },
  'yaml-too-deep': {
    severity: 'error',
    sentence: 'Lists and mappings lie at most 32 levels inside one another.',
    source: 'Skillrail: a limit against hostile files',
  },
  'yaml-too-many-keys': {
    severity: 'error',
    sentence: 'A frontmatter has at most 4,000 keys.',
    source: 'Skillrail: a limit against hostile files',
  },
} as const

/** Everything that can be wrong before the fields, in both profiles. */
export const formatRules = { ...fileRules, ...referenceRules } as const

/** The codes of this table. */
export type FormatRule = keyof typeof fileRules
