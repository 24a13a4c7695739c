import type { Severity } from '../base/index.ts'

const unicodeSecurity = 'https://www.unicode.org/reports/tr36/'
const trojanSource = 'https://trojansource.codes/'
const hostile = 'Skillrail: a limit against hostile files'
const confusables = 'https://www.unicode.org/reports/tr39/#Confusable_Detection'

const directoryStructure = 'https://agentskills.io/specification#directory-structure'

/** What hides something from a reader, or harms whoever reads, unpacks or runs the folder. */
const structureRules = {
  'tag-characters': {
    severity: 'error',
    sentence: 'No text contains tag characters (U+E0000 to U+E007F) outside flags.',
    source: unicodeSecurity,
  },
  'bidirectional-override': {
    severity: 'error',
    sentence: 'No text contains bidirectional embeddings, overrides or isolates.',
    source: trojanSource,
  },
  'hidden-characters': {
    severity: 'error',
    sentence: 'No text contains two or more invisible characters in a row.',
    source: unicodeSecurity,
  },
  'variation-selectors': {
    severity: 'error',
    sentence: 'No text contains two or more variation selectors in a row.',
    source: 'https://www.unicode.org/reports/tr37/',
  },
  'zero-width': {
    severity: 'warning',
    sentence:
      'No word contains a zero-width character, except where a script or an emoji needs it.',
    source: unicodeSecurity,
  },
  'terminal-escape': {
    severity: 'error',
    sentence: 'No text contains characters that a terminal obeys (ESC, CSI, OSC, backspace).',
    source: 'ECMA-48',
  },
  'control-character': {
    severity: 'warning',
    sentence: 'No text contains other control characters than tab, line feed and form feed.',
    source: 'ECMA-48',
  },
  'hidden-style': {
    severity: 'error',
    sentence: 'No style in a Markdown file makes its text invisible.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'comment-instructions': {
    severity: 'info',
    sentence: 'An HTML comment, which no rendered page shows, speaks to the reader.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'text-pushed-aside': {
    severity: 'warning',
    sentence: 'No text stands behind 500 blanks or 200 empty lines.',
    source: 'Skillrail: what a reviewer sees is what a model reads',
  },
  'link-outside': {
    severity: 'error',
    sentence: 'No symbolic link leads out of the skill.',
    source: directoryStructure,
  },
  'link-broken': {
    severity: 'warning',
    sentence: 'Every symbolic link leads somewhere.',
    source: directoryStructure,
  },
  'special-file': {
    severity: 'error',
    sentence: 'A skill consists of files and directories, not of pipes, sockets or devices.',
    source: directoryStructure,
  },
  'special-rights': {
    severity: 'error',
    sentence: 'No file runs with the rights of its owner or group (setuid, setgid).',
    source: directoryStructure,
  },
  'too-many-files': {
    severity: 'error',
    sentence: 'A skill has at most 10,000 files and directories.',
    source: hostile,
  },
  'too-deep': {
    severity: 'error',
    sentence: 'Directories of a skill lie at most 32 levels inside one another.',
    source: hostile,
  },
  'file-too-large': {
    severity: 'error',
    sentence: 'A file of a skill has at most 64 MiB.',
    source: hostile,
  },
  'archive-bomb': {
    severity: 'error',
    sentence:
      'No archive claims to unpack to more than 100 MiB and 100 times its size, or to 10,000 files.',
    source: hostile,
  },
  'archive-escape': {
    severity: 'error',
    sentence: 'No archive contains an absolute path, or one that leads out of it.',
    source: 'https://cwe.mitre.org/data/definitions/22.html',
  },
  archive: {
    severity: 'info',
    sentence: 'An archive, whose contents are not looked at.',
    source: hostile,
  },
  'prototype-key': {
    severity: 'error',
    sentence: 'No key in frontmatter or JSON is `__proto__`, nor one of its kin in frontmatter.',
    source: 'https://cwe.mitre.org/data/definitions/1321.html',
  },
  'name-imitates': {
    severity: 'error',
    sentence: 'No name looks like the name of another installed skill.',
    source: confusables,
  },
  'name-mixed-scripts': {
    severity: 'error',
    sentence: 'No word of a name mixes letters of scripts that look alike.',
    source: confusables,
  },
  'name-near': {
    severity: 'warning',
    sentence: 'No name is one letter away from the name of another installed skill.',
    source: 'https://cwe.mitre.org/data/definitions/1007.html',
  },
  'file-name-hidden': {
    severity: 'error',
    sentence: 'No file name contains invisible, bidirectional or control characters.',
    source: trojanSource,
  },
  'file-name-system': {
    severity: 'warning',
    sentence: 'Every file name means the same on every system.',
    source: 'https://learn.microsoft.com/windows/win32/fileio/naming-a-file',
  },
  'file-name-case': {
    severity: 'warning',
    sentence: 'No two names in a directory differ only in case or in the form of their letters.',
    source: directoryStructure,
  },
  'skill-file-twice': {
    severity: 'error',
    sentence: 'A directory has one `SKILL.md`; no `skill.md` stands beside it.',
    source: directoryStructure,
  },
  'executable-binary': {
    severity: 'error',
    sentence: 'A skill contains no compiled program, which nobody can read.',
    source: directoryStructure,
  },
  'compiled-code': {
    severity: 'warning',
    sentence: 'A skill contains no byte code, which runs without being read.',
    source: directoryStructure,
  },
  'misleading-extension': {
    severity: 'error',
    sentence: 'No program, script or archive is named like a text, a picture or a document.',
    source: 'https://cwe.mitre.org/data/definitions/451.html',
  },
  'nested-git': {
    severity: 'error',
    sentence: 'No Git directory, whose configuration can start programs, lies inside the skill.',
    source: 'https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository',
  },
  lockfile: {
    severity: 'info',
    sentence: 'A lockfile: what the skill installs.',
    source: directoryStructure,
  },
  'not-analysed': {
    severity: 'warning',
    sentence: 'Everything in a skill can be read and analysed.',
    source: hostile,
  },
} as const

const specification = 'https://agentskills.io/specification'
const fact = 'Skillrail: a fact, not a judgement'

/** What a skill asks for, or can do when somebody follows it. Facts with places. */
const capabilityRules = {
  'tool-requested': {
    severity: 'info',
    sentence: 'A tool that `allowed-tools` asks for.',
    source: `${specification}#allowed-tools-field`,
  },
  'skill-behaviour': {
    severity: 'info',
    sentence: 'A field that starts something: `run`, `chain`, `context`, `agent`, `model`.',
    source: 'Skillrail: fields of the frontmatter',
  },
  hooks: {
    severity: 'info',
    sentence: 'Hooks, which an agent client runs by itself.',
    source: 'https://code.claude.com/docs/en/hooks',
  },
  'trigger-broad': {
    severity: 'info',
    sentence: 'A trigger that fires on whatever is typed.',
    source: 'Skillrail: triggers',
  },
  'embedded-command': {
    severity: 'info',
    sentence: 'A command in the text that some clients run before the model reads it.',
    source: 'https://code.claude.com/docs/en/skills',
  },
  script: {
    severity: 'info',
    sentence: 'A script, its language, and what starts it.',
    source: `${specification}#scripts`,
  },
  'mcp-configuration': {
    severity: 'info',
    sentence: 'Configuration of MCP servers, or a command that adds one.',
    source: fact,
  },
  'agent-configuration': {
    severity: 'info',
    sentence: 'Files or options that decide what an agent client may do.',
    source: fact,
  },
  'network-address': {
    severity: 'info',
    sentence: 'A host that is named in an address.',
    source: fact,
  },
  'network-call': {
    severity: 'info',
    sentence: 'A program or function that talks to the network.',
    source: fact,
  },
  'download-and-run': {
    severity: 'info',
    sentence: 'A download that goes straight into an interpreter.',
    source: fact,
  },
  'credential-variable': {
    severity: 'info',
    sentence: 'An environment variable that is named like a secret.',
    source: fact,
  },
  'credential-file': {
    severity: 'info',
    sentence: 'A file in which a system or a client keeps credentials.',
    source: fact,
  },
  'shell-execution': {
    severity: 'info',
    sentence: 'Code that starts programs.',
    source: fact,
  },
  evaluation: {
    severity: 'info',
    sentence: 'Code that runs text as code.',
    source: fact,
  },
  'package-install': {
    severity: 'info',
    sentence: 'A command that installs or fetches packages.',
    source: fact,
  },
  persistence: {
    severity: 'info',
    sentence:
      'Something that starts later or again: schedules, services, shell profiles, Git hooks.',
    source: fact,
  },
  privilege: {
    severity: 'info',
    sentence: 'A command that raises rights or loosens them.',
    source: fact,
  },
  deletion: {
    severity: 'info',
    sentence: 'A command that deletes or overwrites without asking.',
    source: fact,
  },
  'encoded-data': {
    severity: 'info',
    sentence: 'Data in a form that nobody reads: long base64, hexadecimal or escaped text.',
    source: fact,
  },
  decoding: {
    severity: 'info',
    sentence: 'Code that decodes such data.',
    source: fact,
  },
  'decode-and-run': {
    severity: 'warning',
    sentence: 'No decoded data goes straight into an interpreter.',
    source: 'https://attack.mitre.org/techniques/T1140/',
  },
  'override-phrase': {
    severity: 'info',
    sentence: 'A sentence that sets earlier instructions aside.',
    source: fact,
  },
  'concealment-phrase': {
    severity: 'info',
    sentence: 'A sentence that asks to keep something from the user.',
    source: fact,
  },
} as const

/** What should not have been published. The value itself is never shown. */
const secretRules = {
  'secret-token': {
    severity: 'error',
    sentence: 'Nothing has the form of a private key, or of a key or token of a known service.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
  'secret-form': {
    severity: 'warning',
    sentence: 'No authorization header, address or JSON Web Token carries a secret.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
  'secret-value': {
    severity: 'info',
    sentence: 'A key that is named like a secret has a literal value.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
} as const

/**
 * `structure`: what hides something or harms whoever reads the folder. `capability`: what the skill
 * asks for or can do, as a fact. `secret`: what should not have been published.
 */
export type AuditKind = 'structure' | 'capability' | 'secret'

/** One code of `audit`: how grave it is, what the rule says, where the rule comes from. */
export interface AuditRule {
  code: AuditCode
  kind: AuditKind
  severity: Severity
  sentence: string
  source: string
}

export type AuditCode =
  | keyof typeof structureRules
  | keyof typeof capabilityRules
  | keyof typeof secretRules

/** Every code that an audit can give. The documentation is made from it. */
export const auditRules: readonly AuditRule[] = [
  ...rulesOf('structure', structureRules),
  ...rulesOf('capability', capabilityRules),
  ...rulesOf('secret', secretRules),
]

function rulesOf<Code extends AuditCode>(
  kind: AuditKind,
  table: Readonly<Record<Code, Omit<AuditRule, 'code' | 'kind'>>>,
): AuditRule[] {
  const codes = Object.keys(table).filter((code): code is Code => code in table)
  return codes.map((code) => ({ code, kind, ...table[code] }))
}

/** The rule of a code. */
export const auditRule: (code: AuditCode) => AuditRule = (() => {
  const byCode = new Map(auditRules.map((rule) => [rule.code, rule]))
  return (code) => {
    const rule = byCode.get(code)
    if (rule === undefined) throw new TypeError(`no audit rule is called ${code}`)
    return rule
  }
})()
