/**
 * The rules about fields, body and files. A rule of the specification cites its section; a rule
 * about a field of Skillrail's own says so.
 */
export const fieldRules = {
  'name-missing': {
    severity: 'error',
    sentence: 'Every skill has a `name` that is not empty.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-too-long': {
    severity: 'error',
    sentence: 'A name has at most 64 characters.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-uppercase': {
    severity: 'error',
    sentence: 'A name is written in lower case.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-characters': {
    severity: 'error',
    sentence: 'A name contains only lower-case letters, digits and hyphens.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-hyphen-edge': {
    severity: 'error',
    sentence: 'A name neither begins nor ends with a hyphen.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-hyphen-double': {
    severity: 'error',
    sentence: 'A name contains no two hyphens in a row.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-directory-mismatch': {
    severity: 'error',
    sentence: 'A skill is named like the directory it lies in.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'name-unicode': {
    severity: 'warning',
    sentence: 'Letters outside a-z pass the reference validator, but not every client.',
    source: 'https://agentskills.io/specification#name-field',
  },
  'description-missing': {
    severity: 'error',
    sentence: 'Every skill has a `description` that is not empty.',
    source: 'https://agentskills.io/specification#description-field',
  },
  'description-too-long': {
    severity: 'error',
    sentence: 'A description has at most 1,024 characters.',
    source: 'https://agentskills.io/specification#description-field',
  },
  'compatibility-empty': {
    severity: 'error',
    sentence: 'A `compatibility` that is given is not empty.',
    source: 'https://agentskills.io/specification#compatibility-field',
  },
  'compatibility-too-long': {
    severity: 'error',
    sentence: 'A `compatibility` has at most 500 characters.',
    source: 'https://agentskills.io/specification#compatibility-field',
  },
  'text-unquoted': {
    severity: 'warning',
    sentence: 'A text that YAML reads as a number, a boolean or null is quoted.',
    source: 'https://agentskills.io/specification#frontmatter',
  },
  'allowed-tools-form': {
    severity: 'warning',
    sentence: '`allowed-tools` is one string, separated by spaces.',
    source: 'https://agentskills.io/specification#allowed-tools-field',
  },
  'allowed-tools-unbalanced': {
    severity: 'error',
    sentence: 'Every parenthesis in `allowed-tools` is closed.',
    source: 'https://agentskills.io/specification#allowed-tools-field',
  },
  'metadata-not-string': {
    severity: 'warning',
    sentence: 'Values below `metadata` are strings; others are read as their text.',
    source: 'https://agentskills.io/specification#metadata-field',
  },
  'metadata-nested-extension': {
    severity: 'warning',
    sentence: 'A list or map below `metadata` that Skillrail understands has a string form.',
    source: 'https://agentskills.io/specification#metadata-field',
  },
  'metadata-nested': {
    severity: 'error',
    sentence: 'No list or map stands below `metadata`.',
    source: 'https://agentskills.io/specification#metadata-field',
  },
  'unknown-field': {
    severity: 'warning',
    sentence: 'A field is one of the specification, of Skillrail, or of a known client.',
    source: 'https://agentskills.io/specification#frontmatter',
  },
  'client-field': {
    severity: 'info',
    sentence: 'A field that only some clients act on; the others ignore or refuse it.',
    source: 'https://agentskills.io/specification#frontmatter',
  },
  'field-type': {
    severity: 'error',
    sentence: 'A field has the type that its definition gives.',
    source: 'Skillrail: fields of the frontmatter',
  },
  'field-value': {
    severity: 'error',
    sentence: 'A field has one of the values that its definition allows.',
    source: 'Skillrail: fields of the frontmatter',
  },
  'field-empty': {
    severity: 'warning',
    sentence: 'A field that is given has a value.',
    source: 'Skillrail: fields of the frontmatter',
  },
  'field-twice': {
    severity: 'warning',
    sentence: 'An extension stands at the top level or below `metadata`; the top level wins.',
    source: 'Skillrail: fields of the frontmatter',
  },
  'field-placement': {
    severity: 'warning',
    sentence: 'A chain and its policy stand below `metadata`.',
    source: 'Skillrail extension (skill chaining)',
  },
  'argument-hint-list': {
    severity: 'warning',
    sentence: 'An `argument-hint` in brackets is quoted, because YAML reads it as a list.',
    source: 'Skillrail extension (skills and subagents)',
  },
  'argument-name': {
    severity: 'error',
    sentence:
      'An argument name begins with a letter, has at most 64 characters, is no reserved word, and occurs once.',
    source: 'Skillrail extension (skills and subagents)',
  },
  'path-outside': {
    severity: 'error',
    sentence: 'A path is relative, with `/`, and stays inside the skill.',
    source: 'Skillrail: fields of the frontmatter',
  },
  'chain-empty': {
    severity: 'warning',
    sentence: 'A chain names at least one skill.',
    source: 'Skillrail extension (skill chaining)',
  },
  'chain-step-name': {
    severity: 'error',
    sentence: 'A step is a skill name or a path of names below the parent of the chain.',
    source: 'Skillrail extension (skill chaining)',
  },
  'chain-unknown-key': {
    severity: 'warning',
    sentence: 'A key beside a chain that looks like a policy is spelled like one.',
    source: 'Skillrail extension (skill chaining)',
  },
  'chain-gate-unknown': {
    severity: 'error',
    sentence: 'A gate names a step of its chain.',
    source: 'Skillrail extension (skill chaining)',
  },
  'trigger-form': {
    severity: 'error',
    sentence: 'A trigger has one `match` and one `inject`, and neither is empty.',
    source: 'Skillrail extension (deterministic progressive disclosure)',
  },
  'trigger-unknown-key': {
    severity: 'warning',
    sentence: 'A trigger has the keys `match` and `inject`.',
    source: 'Skillrail extension (deterministic progressive disclosure)',
  },
  'body-too-many-lines': {
    severity: 'info',
    sentence: 'A `SKILL.md` stays under 500 lines.',
    source: 'https://agentskills.io/specification#progressive-disclosure',
  },
  'body-too-many-tokens': {
    severity: 'info',
    sentence: 'The instructions stay under 5,000 tokens.',
    source: 'https://agentskills.io/specification#progressive-disclosure',
  },
  'description-no-occasion': {
    severity: 'info',
    sentence: 'A description says when to use the skill.',
    source: 'https://agentskills.io/specification#description-field',
  },
  'description-vague': {
    severity: 'info',
    sentence: 'A description is specific enough to choose by.',
    source: 'https://agentskills.io/specification#description-field',
  },
  'description-person': {
    severity: 'info',
    sentence: 'A description is written in the third person.',
    source: 'https://agentskills.io/specification#description-field',
  },
  'reference-missing': {
    severity: 'info',
    sentence: 'A file that the instructions name exists.',
    source: 'https://agentskills.io/specification#file-references',
  },
  'reference-outside': {
    severity: 'info',
    sentence: 'A file that the instructions name lies inside the skill.',
    source: 'https://agentskills.io/specification#file-references',
  },
  'reference-deep': {
    severity: 'info',
    sentence: 'A file that the instructions name lies at most one level deep.',
    source: 'https://agentskills.io/specification#file-references',
  },
  'script-not-executable': {
    severity: 'info',
    sentence: 'A script that is started by its path has the run bit.',
    source: 'https://agentskills.io/specification#scripts',
  },
} as const

/** The codes of this table. */
export type FieldRule = keyof typeof fieldRules
