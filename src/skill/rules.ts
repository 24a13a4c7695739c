import type { Diagnostic, Severity } from '#core/errors'

export interface RuleDefinition {
  code: string
  severity: Severity
  sentence: string
  source: string
}

/** Where the rules of the profile `reference` come from. */
export const referenceSource = 'https://github.com/agentskills/agentskills/tree/main/skills-ref'

const yaml12 = 'https://yaml.org/spec/1.2.2/'
const limit = 'Skillrail: protection against hostile files'
const ownFields = 'Skillrail: fields of the frontmatter'
const chaining = 'Skillrail extension (skill chaining)'
const prd = 'Skillrail extension (skills and subagents)'
const disclosure = 'Skillrail extension (deterministic progressive disclosure)'

function section(name: string): string {
  return `https://agentskills.io/specification#${name}`
}

/** Severity, source and sentence of each code. A rule of the specification cites its section. */
const rules = [
  group('error', section('skill-md-format'), {
    'file-not-utf8': 'A `SKILL.md` is UTF-8 text.',
    'file-nul': 'A `SKILL.md` contains no NUL character.',
  }),
  group('error', section('progressive-disclosure'), {
    'file-too-large': 'A `SKILL.md` has at most 1 MiB.',
  }),
  group('warning', section('description-field'), {
    'catalogue-cut': 'No client cuts the description.',
    'description-shared': 'No two skills have the same description.',
  }),
  group('warning', disclosure, {
    'example-shared': 'No two skills have the same example of a prompt.',
  }),
  group('warning', section('frontmatter'), {
    'byte-order-mark': 'A `SKILL.md` has no byte order mark.',
    'text-unquoted': 'A text that YAML does not read as one is quoted.',
    'text-cut': 'No part of a value is a comment.',
    'yaml-unquoted': 'A value that YAML cannot read is quoted.',
    'unknown-field': 'A field is known.',
  }),
  group('error', section('frontmatter'), {
    'frontmatter-missing': 'A `SKILL.md` begins with a line `---`.',
    'frontmatter-unclosed': 'The frontmatter ends with a line `---`.',
    'frontmatter-too-large': 'A frontmatter has at most 64 KiB.',
    'frontmatter-empty': 'A frontmatter has at least `name` and `description`.',
    'frontmatter-not-mapping': 'A frontmatter is a YAML mapping.',
  }),
  group('error', yaml12, {
    'yaml-syntax': 'The frontmatter is valid YAML.',
  }),
  group('error', `${yaml12}#chapter-9-document-stream-productions`, {
    'yaml-several-documents': 'The frontmatter is one YAML document.',
  }),
  group('error', `${yaml12}#mapping`, {
    'yaml-duplicate-key': 'No mapping has a key twice.',
  }),
  group('error', section('metadata-field'), {
    'yaml-key-form': 'A key is one scalar, not a list or a mapping.',
    'metadata-nested': '`metadata` contains no list or map.',
  }),
  group('error', limit, {
    'yaml-reserved-key': 'No key is `__proto__`, `constructor` or `prototype`.',
    'yaml-anchor': 'The frontmatter has no anchors and no aliases.',
    'yaml-tag': 'The frontmatter has no tags.',
    'yaml-too-deep': 'Lists and mappings are nested at most 32 levels.',
    'yaml-too-many-keys': 'A frontmatter has at most 4,000 keys.',
  }),
  group('error', referenceSource, {
    'yaml-flow-collection': 'There is no `[…]` and no `{…}`.',
    'yaml-indentation': 'Mappings inside one mapping are indented alike.',
    'name-empty': 'A name is a string that is not blank.',
    'description-empty': 'A description is a string that is not blank.',
    'compatibility-type': '`compatibility` is a string.',
    'reference-crash': 'The reference validator can read it.',
  }),
  group('error', section('name-field'), {
    'name-missing': 'Every skill has a `name` that is not empty.',
    'name-too-long': 'A name has at most 64 characters.',
    'name-uppercase': 'A name is written in lower case.',
    'name-characters': 'A name contains letters, digits and hyphens.',
    'name-hyphen-edge': 'A name begins and ends without a hyphen.',
    'name-hyphen-double': 'A name does not contain two hyphens in a row.',
    'name-directory-mismatch': 'A skill has the name of its directory.',
    'skill-conflict': 'No two different skills in one place have the same name.',
  }),
  group('warning', section('name-field'), {
    'name-unicode': 'A name has no letters outside a-z.',
  }),
  group('error', section('description-field'), {
    'description-missing': 'Every skill has a `description` that is not empty.',
    'description-too-long': 'A description has at most 1,024 characters.',
  }),
  group('error', section('compatibility-field'), {
    'compatibility-empty': '`compatibility` is not empty if it is set.',
    'compatibility-too-long': 'A `compatibility` has at most 500 characters.',
  }),
  group('warning', section('allowed-tools-field'), {
    'allowed-tools-form': '`allowed-tools` is one string, separated by spaces.',
  }),
  group('error', section('allowed-tools-field'), {
    'allowed-tools-unbalanced': 'Every parenthesis in `allowed-tools` is closed.',
  }),
  group('warning', section('metadata-field'), {
    'metadata-not-string': 'Values below `metadata` are strings.',
    'metadata-nested-extension': 'An extension below `metadata` has its string form.',
  }),
  group('info', section('frontmatter'), {
    'client-field': 'A field is not that of one client.',
  }),
  group('error', ownFields, {
    'field-type': 'A field has its type.',
    'field-value': 'A field has an allowed value.',
    'path-outside': 'A path stays inside the skill.',
  }),
  group('warning', ownFields, {
    'field-empty': 'A field that is set has a value.',
    'field-twice': 'An extension is set at one level only.',
  }),
  group('warning', chaining, {
    'field-placement': 'A chain and its policy are below `metadata`.',
    'chain-empty': 'A chain names at least one skill.',
    'chain-unknown-key': 'Every key next to a chain is known.',
    'chain-tool-name': 'A `guard` and `tools` name tools.',
    'chain-tool-pattern': 'A pattern of `Bash` is the words of one command.',
    'chain-tools-guard': 'The `tools` of a step allow what its `guard` names.',
  }),
  group('warning', prd, {
    'argument-hint-list': 'An `argument-hint` in brackets is quoted.',
  }),
  group('error', prd, {
    'argument-name': 'An argument name is valid and occurs once.',
  }),
  group('error', chaining, {
    'chain-step-name': 'The skill of a step is next to or below its chain.',
    'chain-gate-unknown': 'A gate names a step of its chain.',
    'chain-step-form': 'A line of a chain is a step, or steps joined by `&`.',
    'chain-when-unknown': 'A condition names a step of an earlier line.',
    'chain-rework': '`rework` is on a step with a gate and names a step of an earlier line.',
    'chain-control-key': 'A chain is controlled by its own keys.',
  }),
  group('error', disclosure, {
    'trigger-form': 'A trigger has one occasion and one `inject`.',
  }),
  group('warning', disclosure, {
    'trigger-unknown-key': 'A key of a trigger is known.',
  }),
  group('info', section('progressive-disclosure'), {
    'body-too-many-lines': 'A `SKILL.md` stays under 500 lines.',
    'body-too-many-tokens': 'The instructions stay under 5,000 tokens.',
  }),
  group('info', section('description-field'), {
    'description-no-occasion': 'A description says when to use the skill.',
    'description-vague': 'A description is specific.',
    'description-person': 'A description is written in the third person.',
  }),
  group('info', section('file-references'), {
    'reference-missing': 'A file that the body names exists.',
    'reference-outside': 'A file that the body names is inside the skill.',
    'reference-chain': 'A document that a reference names is named in the body, too.',
    'reference-deep': 'A file that the body names is one level deep.',
  }),
  group('info', prd, {
    'argument-unescaped': 'A `$1` that is text and not a placeholder is written `\\$1`.',
  }),
  group('info', section('scripts'), {
    'script-not-executable': 'A script has the run bit.',
  }),
]

function group<Code extends string>(
  severity: Severity,
  source: string,
  sentences: Readonly<Record<Code, string>>,
) {
  return { severity, source, sentences }
}

type CodeIn<Sentences> = Sentences extends unknown ? keyof Sentences : never
export type RuleCode = CodeIn<(typeof rules)[number]['sentences']>

export const validationRules: readonly RuleDefinition[] = rules.flatMap(({ sentences, ...facts }) =>
  Object.entries<string>(sentences).map(([code, sentence]) => ({ code, sentence, ...facts })),
)

const ruleOf: ReadonlyMap<string, RuleDefinition> = new Map(
  validationRules.map((rule) => [rule.code, rule]),
)

export interface Position {
  line: number
  column: number
}

export function finding(
  code: RuleCode,
  path: string,
  at: Position | undefined,
  message: string,
  hint?: string,
): Diagnostic {
  const { severity = 'error', source } = ruleOf.get(code) ?? {}
  return { code, severity, message, path, line: at?.line, column: at?.column, hint, source }
}
