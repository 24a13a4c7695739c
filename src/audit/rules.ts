import type { Severity } from '../core/diagnostic.ts'

const unicodeSecurity = 'https://www.unicode.org/reports/tr36/'
const trojanSource = 'https://trojansource.codes/'
const hostile = 'Skillrail: a limit against hostile files'
const asReviewed = 'Skillrail: what a reviewer sees is what a model reads'
const confusables = 'https://www.unicode.org/reports/tr39/#Confusable_Detection'

const directoryStructure = 'https://agentskills.io/specification#directory-structure'

interface RuleFacts {
  severity: Severity
  sentence: string
  source: string
}

const error = ruleOf('error')
const warning = ruleOf('warning')
const info = ruleOf('info')

function ruleOf(severity: Severity) {
  return (sentence: string, source = 'Skillrail: a fact, not a judgement'): RuleFacts => {
    return { severity, sentence, source }
  }
}

/** What hides something from a reader, or harms whoever reads, unpacks or runs the folder. */
const structureRules = {
  'tag-characters': error(
    'No text contains tag characters (U+E0000 to U+E007F) outside flags.',
    unicodeSecurity,
  ),
  'bidirectional-override': error(
    'No text contains bidirectional embeddings, overrides or isolates.',
    trojanSource,
  ),
  'hidden-characters': error(
    'No text contains two or more invisible characters in a row.',
    unicodeSecurity,
  ),
  'variation-selectors': error(
    'No text contains two or more variation selectors in a row.',
    'https://www.unicode.org/reports/tr37/',
  ),
  'zero-width': warning(
    'No word contains a zero-width character, except where a script or an emoji needs it.',
    unicodeSecurity,
  ),
  'terminal-escape': error(
    'No text contains characters that a terminal obeys (ESC, CSI, OSC, backspace).',
    'ECMA-48',
  ),
  'control-character': warning(
    'No text contains other control characters than tab, line feed and form feed.',
    'ECMA-48',
  ),
  'hidden-style': error('No style in a Markdown file makes its text invisible.', asReviewed),
  'comment-instructions': info(
    'An HTML comment, which no rendered page shows, speaks to the reader.',
    asReviewed,
  ),
  'text-pushed-aside': warning('No text stands behind 500 blanks or 200 empty lines.', asReviewed),
  'link-outside': error('No symbolic link leads out of the skill.', directoryStructure),
  'link-broken': warning('Every symbolic link leads somewhere.', directoryStructure),
  'special-file': error(
    'A skill consists of files and directories, not of pipes, sockets or devices.',
    directoryStructure,
  ),
  'special-rights': error(
    'No file runs with the rights of its owner or group (setuid, setgid).',
    directoryStructure,
  ),
  'too-many-files': error('A skill has at most 10,000 files and directories.', hostile),
  'too-deep': error('Directories of a skill lie at most 32 levels inside one another.', hostile),
  'file-too-large': error('A file of a skill has at most 64 MiB.', hostile),
  'archive-bomb': error(
    'No archive claims to unpack to more than 100 MiB and 100 times its size, or to 10,000 files.',
    hostile,
  ),
  'archive-escape': error(
    'No archive contains an absolute path, or one that leads out of it.',
    'https://cwe.mitre.org/data/definitions/22.html',
  ),
  archive: info('An archive, whose contents are not looked at.', hostile),
  'prototype-key': error(
    'No key in frontmatter or JSON is `__proto__`, nor one of its kin in frontmatter.',
    'https://cwe.mitre.org/data/definitions/1321.html',
  ),
  'name-imitates': error('No name looks like the name of another installed skill.', confusables),
  'name-mixed-scripts': error(
    'No word of a name mixes letters of scripts that look alike.',
    confusables,
  ),
  'name-near': warning(
    'No name is one letter away from the name of another installed skill.',
    'https://cwe.mitre.org/data/definitions/1007.html',
  ),
  'file-name-hidden': error(
    'No file name contains invisible, bidirectional or control characters.',
    trojanSource,
  ),
  'file-name-system': warning(
    'Every file name means the same on every system.',
    'https://learn.microsoft.com/windows/win32/fileio/naming-a-file',
  ),
  'file-name-case': warning(
    'No two names in a directory differ only in case or in the form of their letters.',
    directoryStructure,
  ),
  'skill-file-twice': error(
    'A directory has one `SKILL.md`; no `skill.md` stands beside it.',
    directoryStructure,
  ),
  'executable-binary': error(
    'A skill contains no compiled program, which cannot be reviewed.',
    directoryStructure,
  ),
  'compiled-code': warning(
    'A skill contains no byte code, which runs without being read.',
    directoryStructure,
  ),
  'misleading-extension': error(
    'No program, script or archive is named like a text, a picture or a document.',
    'https://cwe.mitre.org/data/definitions/451.html',
  ),
  'nested-git': error(
    'No Git directory, whose configuration can start programs, lies inside the skill.',
    'https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository',
  ),
  lockfile: info('A lockfile: what the skill installs.', directoryStructure),
  'not-analysed': warning('Everything in a skill can be read and analysed.', hostile),
} as const

const hardCoded = 'https://cwe.mitre.org/data/definitions/798.html'
const specification = 'https://agentskills.io/specification'

/** What a skill asks for, or can do when somebody follows it. Facts with places. */
const capabilityRules = {
  'tool-requested': info(
    'A tool that `allowed-tools` asks for.',
    `${specification}#allowed-tools-field`,
  ),
  'skill-behaviour': info(
    'A field that starts something: `run`, `chain`, `context`, `agent`, `model`.',
    'Skillrail: fields of the frontmatter',
  ),
  hooks: info(
    'Hooks, which an agent client runs by itself.',
    'https://code.claude.com/docs/en/hooks',
  ),
  'trigger-broad': info('A trigger that fires on whatever is typed.', 'Skillrail: triggers'),
  'embedded-command': info(
    'A command in the text that some clients run before the model reads it.',
    'https://code.claude.com/docs/en/skills',
  ),
  script: info('A script, its language, and what starts it.', `${specification}#scripts`),
  'mcp-configuration': info('Configuration of MCP servers, or a command that adds one.'),
  'agent-configuration': info('Files or options that decide what an agent client may do.'),
  'network-address': info('A host that is named in an address.'),
  'network-call': info('A program or function that talks to the network.'),
  'download-and-run': info('A download that goes straight into an interpreter.'),
  'credential-variable': info('An environment variable that is named like a secret.'),
  'credential-file': info('A file in which a system or a client keeps credentials.'),
  'shell-execution': info('Code that starts programs.'),
  evaluation: info('Code that runs text as code.'),
  'package-install': info('A command that installs or fetches packages.'),
  persistence: info(
    'Something that starts later or again: schedules, services, shell profiles, Git hooks.',
  ),
  privilege: info('A command that raises rights or loosens them.'),
  deletion: info('A command that deletes or overwrites without asking.'),
  'encoded-data': info(
    'Data in a form that is hard to review: long base64, hexadecimal or escaped text.',
  ),
  decoding: info('Code that decodes such data.'),
  'decode-and-run': warning(
    'No decoded data goes straight into an interpreter.',
    'https://attack.mitre.org/techniques/T1140/',
  ),
  'override-phrase': info('A sentence that sets earlier instructions aside.'),
  'concealment-phrase': info('A sentence that asks to keep something from the user.'),
} as const

/** What should not have been published. The value itself is never shown. */
const secretRules = {
  'secret-token': error(
    'Nothing has the form of a private key, or of a key or token of a known service.',
    hardCoded,
  ),
  'secret-form': warning(
    'No authorization header, address or JSON Web Token carries a secret.',
    hardCoded,
  ),
  'secret-value': info('A key that is named like a secret has a literal value.', hardCoded),
} as const

/**
 * `structure`: what hides something or harms whoever reads the folder. `capability`: what the skill
 * asks for or can do, as a fact. `secret`: what should not have been published.
 */
export type AuditKind = 'structure' | 'capability' | 'secret'

/** One code of `audit`: how grave it is, what the rule says, where the rule comes from. */
export interface AuditRule extends RuleFacts {
  code: AuditCode
  kind: AuditKind
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
  table: Readonly<Record<Code, RuleFacts>>,
): AuditRule[] {
  const codes = Object.keys(table).filter((code): code is Code => code in table)
  return codes.map((code) => ({ code, kind, ...table[code] }))
}

const rulesByCode = new Map(auditRules.map((rule) => [rule.code, rule]))

/** The rule of a code. */
export function auditRule(code: AuditCode): AuditRule {
  const rule = rulesByCode.get(code)
  if (rule === undefined) throw new TypeError(`no audit rule is called ${code}`)
  return rule
}
