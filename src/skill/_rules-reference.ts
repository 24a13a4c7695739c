const source = 'https://github.com/agentskills/agentskills/tree/main/skills-ref'

/** What only the profile `reference` reports. The other codes it shares with the profile `spec`. */
export const referenceRules = {
  'yaml-flow-collection': {
    severity: 'error',
    sentence: 'The reference validator reads no `[…]` and no `{…}`.',
    source,
  },
  'yaml-indentation': {
    severity: 'error',
    sentence: 'To the reference validator, mappings inside one mapping are indented alike.',
    source,
  },
  'name-empty': {
    severity: 'error',
    sentence: 'To the reference validator a name is a string that is not blank.',
    source,
  },
  'description-empty': {
    severity: 'error',
    sentence: 'To the reference validator a description is a string that is not blank.',
    source,
  },
  'compatibility-type': {
    severity: 'error',
    sentence: 'To the reference validator `compatibility` is a string.',
    source,
  },
  'reference-crash': {
    severity: 'error',
    sentence: 'The reference validator ends with an exception instead of a verdict.',
    source,
  },
} as const

/** Where the rules of the profile `reference` come from. */
export const referenceSource = source
