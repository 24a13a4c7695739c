import type { Diagnostic, Severity } from '../core/diagnostic.ts'

/** One code of `validate`: how grave it is, what the rule says, where the rule comes from. */
export interface RuleDefinition {
  code: string
  severity: Severity
  sentence: string
  source: string
}

/** Where the rules of the profile `reference` come from. */
export const referenceSource = 'https://github.com/agentskills/agentskills/tree/main/skills-ref'

const yaml12 = 'https://yaml.org/spec/1.2.2/'
const limit = 'Skillrail: a limit against hostile files'
const ownFields = 'Skillrail: fields of the frontmatter'
const chaining = 'Skillrail extension (skill chaining)'
const prd = 'Skillrail extension (skills and subagents)'
const disclosure = 'Skillrail extension (deterministic progressive disclosure)'

function section(name: string): string {
  return `https://agentskills.io/specification#${name}`
}

/** Severity, source and sentence of each code. A rule of the specification cites its section. */
const rules = {
  // The file and its YAML, before any field is read.
  'file-not-utf8': ['error', section('skill-md-format'), 'A `SKILL.md` is UTF-8 text.'],
  'file-nul': ['error', section('skill-md-format'), 'A `SKILL.md` contains no NUL character.'],
  'file-too-large': [
    'error',
    section('progressive-disclosure'),
    'A `SKILL.md` has at most 1 MiB; longer material belongs into references.',
  ],
  'byte-order-mark': [
    'warning',
    section('frontmatter'),
    'A `SKILL.md` begins with `---`, not with a byte order mark.',
  ],
  'frontmatter-missing': [
    'error',
    section('frontmatter'),
    'A `SKILL.md` begins with a line `---` that opens its frontmatter.',
  ],
  'frontmatter-unclosed': [
    'error',
    section('frontmatter'),
    'The frontmatter ends with a line `---`.',
  ],
  'frontmatter-too-large': ['error', section('frontmatter'), 'A frontmatter has at most 64 KiB.'],
  'frontmatter-empty': [
    'error',
    section('frontmatter'),
    'A frontmatter has at least `name` and `description`.',
  ],
  'frontmatter-not-mapping': ['error', section('frontmatter'), 'A frontmatter is a YAML mapping.'],
  'yaml-syntax': ['error', yaml12, 'The frontmatter is valid YAML.'],
  'yaml-several-documents': [
    'error',
    `${yaml12}#chapter-9-document-stream-productions`,
    'The frontmatter is one YAML document.',
  ],
  'yaml-duplicate-key': ['error', `${yaml12}#mapping`, 'No mapping has a key twice.'],
  'yaml-key-form': [
    'error',
    section('metadata-field'),
    'A key is one scalar, not a list or a mapping.',
  ],
  'yaml-reserved-key': [
    'error',
    'Skillrail: such keys reach the prototype of objects made from the frontmatter',
    'No key is `__proto__`, `constructor` or `prototype`.',
  ],
  'yaml-anchor': [
    'error',
    'Skillrail: aliases multiply, and the reference validator refuses them',
    'The frontmatter has no anchors (`&name`) and no aliases (`*name`).',
  ],
  'yaml-tag': [
    'error',
    'Skillrail: the reference validator refuses them',
    'The frontmatter has no tags (`!name`).',
  ],
  'yaml-too-deep': ['error', limit, 'Lists and mappings lie at most 32 levels inside one another.'],
  'yaml-too-many-keys': ['error', limit, 'A frontmatter has at most 4,000 keys.'],

  // Only the profile `reference` reports these; it shares the other codes with `spec`.
  'yaml-flow-collection': [
    'error',
    referenceSource,
    'The reference validator reads no `[…]` and no `{…}`.',
  ],
  'yaml-indentation': [
    'error',
    referenceSource,
    'To the reference validator, mappings inside one mapping are indented alike.',
  ],
  'name-empty': [
    'error',
    referenceSource,
    'To the reference validator a name is a string that is not blank.',
  ],
  'description-empty': [
    'error',
    referenceSource,
    'To the reference validator a description is a string that is not blank.',
  ],
  'compatibility-type': [
    'error',
    referenceSource,
    'To the reference validator `compatibility` is a string.',
  ],
  'reference-crash': [
    'error',
    referenceSource,
    'The reference validator ends with an exception instead of a verdict.',
  ],

  // Fields, body and files.
  'name-missing': ['error', section('name-field'), 'Every skill has a `name` that is not empty.'],
  'name-too-long': ['error', section('name-field'), 'A name has at most 64 characters.'],
  'name-uppercase': ['error', section('name-field'), 'A name is written in lower case.'],
  'name-characters': [
    'error',
    section('name-field'),
    'A name contains only lower-case letters, digits and hyphens.',
  ],
  'name-hyphen-edge': [
    'error',
    section('name-field'),
    'A name neither begins nor ends with a hyphen.',
  ],
  'name-hyphen-double': [
    'error',
    section('name-field'),
    'A name contains no two hyphens in a row.',
  ],
  'name-directory-mismatch': [
    'error',
    section('name-field'),
    'A skill is named like the directory it lies in.',
  ],
  'name-unicode': [
    'warning',
    section('name-field'),
    'Letters outside a-z pass the reference validator, but not every client.',
  ],
  'description-missing': [
    'error',
    section('description-field'),
    'Every skill has a `description` that is not empty.',
  ],
  'description-too-long': [
    'error',
    section('description-field'),
    'A description has at most 1,024 characters.',
  ],
  'compatibility-empty': [
    'error',
    section('compatibility-field'),
    'A `compatibility` that is given is not empty.',
  ],
  'compatibility-too-long': [
    'error',
    section('compatibility-field'),
    'A `compatibility` has at most 500 characters.',
  ],
  'text-unquoted': [
    'warning',
    section('frontmatter'),
    'A text that YAML reads as a number, a boolean or null is quoted.',
  ],
  'allowed-tools-form': [
    'warning',
    section('allowed-tools-field'),
    '`allowed-tools` is one string, separated by spaces.',
  ],
  'allowed-tools-unbalanced': [
    'error',
    section('allowed-tools-field'),
    'Every parenthesis in `allowed-tools` is closed.',
  ],
  'metadata-not-string': [
    'warning',
    section('metadata-field'),
    'Values below `metadata` are strings; others are read as their text.',
  ],
  'metadata-nested-extension': [
    'warning',
    section('metadata-field'),
    'A list or map below `metadata` that Skillrail understands has a string form.',
  ],
  'metadata-nested': [
    'error',
    section('metadata-field'),
    'No list or map stands below `metadata`.',
  ],
  'unknown-field': [
    'warning',
    section('frontmatter'),
    'A field is one of the specification, of Skillrail, or of a known client.',
  ],
  'client-field': [
    'info',
    section('frontmatter'),
    'A field that only some clients act on; the others ignore or refuse it.',
  ],
  'field-type': ['error', ownFields, 'A field has the type that its definition gives.'],
  'field-value': ['error', ownFields, 'A field has one of the values that its definition allows.'],
  'field-empty': ['warning', ownFields, 'A field that is given has a value.'],
  'field-twice': [
    'warning',
    ownFields,
    'An extension stands at the top level or below `metadata`; the top level takes precedence.',
  ],
  'field-placement': ['warning', chaining, 'A chain and its policy stand below `metadata`.'],
  'argument-hint-list': [
    'warning',
    prd,
    'An `argument-hint` in brackets is quoted, because YAML reads it as a list.',
  ],
  'argument-name': [
    'error',
    prd,
    'An argument name begins with a letter, has at most 64 characters, is not a reserved word, and occurs once.',
  ],
  'path-outside': ['error', ownFields, 'A path is relative, with `/`, and stays inside the skill.'],
  'chain-empty': ['warning', chaining, 'A chain names at least one skill.'],
  'chain-step-name': [
    'error',
    chaining,
    'A step is a skill name or a path of names below the parent of the chain.',
  ],
  'chain-unknown-key': [
    'warning',
    chaining,
    'A key beside a chain that looks like a policy is spelled like one.',
  ],
  'chain-gate-unknown': ['error', chaining, 'A gate names a step of its chain.'],
  'trigger-form': [
    'error',
    disclosure,
    'A trigger has one `match` and one `inject`, and neither is empty.',
  ],
  'trigger-unknown-key': ['warning', disclosure, 'A trigger has the keys `match` and `inject`.'],
  'body-too-many-lines': [
    'info',
    section('progressive-disclosure'),
    'A `SKILL.md` stays under 500 lines.',
  ],
  'body-too-many-tokens': [
    'info',
    section('progressive-disclosure'),
    'The instructions stay under 5,000 tokens.',
  ],
  'description-no-occasion': [
    'info',
    section('description-field'),
    'A description says when to use the skill.',
  ],
  'description-vague': [
    'info',
    section('description-field'),
    'A description is specific enough to choose by.',
  ],
  'description-person': [
    'info',
    section('description-field'),
    'A description is written in the third person.',
  ],
  'reference-missing': [
    'info',
    section('file-references'),
    'A file that the instructions name exists.',
  ],
  'reference-outside': [
    'info',
    section('file-references'),
    'A file that the instructions name lies inside the skill.',
  ],
  'reference-deep': [
    'info',
    section('file-references'),
    'A file that the instructions name lies at most one level deep.',
  ],
  'script-not-executable': [
    'info',
    section('scripts'),
    'A script that is started by its path has the run bit.',
  ],
} as const satisfies Record<string, readonly [Severity, source: string, sentence: string]>

export type RuleCode = keyof typeof rules

/** Every code that reading and validating a skill can give. The documentation is made from it. */
export const validationRules: readonly RuleDefinition[] = Object.entries(rules).map(
  ([code, [severity, source, sentence]]) => ({ code, severity, sentence, source }),
)

/** A place in the file; nodes of the tree fit. */
export interface Position {
  line: number
  column: number
}

/** A diagnostic whose severity and source come from the table of rules. */
export function finding(
  code: RuleCode,
  path: string,
  at: Position | undefined,
  message: string,
  hint?: string,
): Diagnostic {
  const [severity, source] = rules[code]
  return { code, severity, message, path, line: at?.line, column: at?.column, hint, source }
}
