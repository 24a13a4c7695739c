import type { Severity } from '#core/errors'

/**
 * `structure`: hides something or harms whoever reads the folder. `capability`: something that the
 * skill asks for or can do, as a fact. `secret`: should not have been published.
 */
export type AuditKind = 'structure' | 'capability' | 'secret'

interface RuleFacts {
  severity: Severity
  sentence: string
  source: string
}

function ruleOf(severity: Severity) {
  return (sentence: string, source = 'Skillrail: a fact, not a judgement'): RuleFacts => {
    return { severity, sentence, source }
  }
}

const error = ruleOf('error')
const warning = ruleOf('warning')
const info = ruleOf('info')

const unicode = 'https://www.unicode.org/reports/tr36/'
const selectors = 'https://www.unicode.org/reports/tr37/'
const confusables = 'https://www.unicode.org/reports/tr39/#Confusable_Detection'
const trojan = 'https://trojansource.codes/'
const terminal = 'ECMA-48'
const limit = 'Skillrail: protection against hostile files'
const reviewSource = 'Skillrail: what a reviewer sees is what a model reads'
const format = 'https://agentskills.io/specification'
const structure = `${format}#directory-structure`
const git = 'https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository'
const exfiltration = 'https://attack.mitre.org/techniques/T1567/'
const shell = 'https://attack.mitre.org/techniques/T1059/'
const startup = 'https://attack.mitre.org/tactics/TA0003/'
const destruction = 'https://attack.mitre.org/techniques/T1485/'
const injection = 'https://genai.owasp.org/llmrisk/llm01-prompt-injection/'
const decoding = 'https://attack.mitre.org/techniques/T1140/'
const fields = 'Skillrail: fields of the frontmatter'
const claude = 'https://code.claude.com/docs/en'

function weakness(number: number): string {
  return `https://cwe.mitre.org/data/definitions/${number}.html`
}

/**
 * Content that hides something from a reader, or harms whoever reads, unpacks or runs the folder.
 */
const structureRules = {
  'tag-characters': error('No tag characters (U+E0000 to U+E007F) outside flags.', unicode),
  'bidirectional-override': error('No bidirectional embeddings, overrides or isolates.', trojan),
  'hidden-characters': error('No two invisible characters in a row.', unicode),
  'variation-selectors': error('No two variation selectors in a row.', selectors),
  'zero-width': warning('No zero-width character, except in a script or an emoji.', unicode),
  'terminal-escape': error('No characters that a terminal obeys (ESC, CSI, OSC).', terminal),
  'control-character': warning('No control characters except tab and line ends.', terminal),
  'hidden-style': error('No style in a Markdown file makes its text invisible.', reviewSource),
  'comment-instructions': warning('No HTML comment speaks to the reader.', reviewSource),
  'text-pushed-aside': warning('No text follows 500 blanks or 200 empty lines.', reviewSource),
  'link-outside': error('No symbolic link leads out of the skill.', structure),
  'link-broken': warning('Every symbolic link leads somewhere.', structure),
  'special-file': error('Only files and directories, no pipes, sockets or devices.', structure),
  'special-rights': error('No file has the setuid or setgid bit.', structure),
  'too-many-files': error('A skill has at most 10,000 files and directories.', limit),
  'too-deep': error('Directories are nested at most 32 levels deep.', limit),
  'file-too-large': error('A file of a skill has at most 64 MiB.', limit),
  'archive-bomb': error('No archive claims over 100 MiB and 100 times its size.', limit),
  'archive-escape': error('No archive contains a path that leads out of it.', weakness(22)),
  archive: info('An archive, whose contents are not checked.', limit),
  'prototype-key': error(
    'No key in frontmatter or JSON is `__proto__` or similar.',
    weakness(1321),
  ),
  'name-imitates': error('No name looks like that of another installed skill.', confusables),
  'name-mixed-scripts': error('No word mixes letters of scripts that look alike.', confusables),
  'name-near': warning('No name is one letter away from another skill.', weakness(1007)),
  'file-name-hidden': error('No file name has invisible or control characters.', trojan),
  'skill-file-twice': error('No `skill.md` is next to `SKILL.md`.', structure),
  'executable-binary': error('No compiled program, which cannot be reviewed.', structure),
  'compiled-code': warning('No byte code, which runs without being read.', structure),
  'misleading-extension': error('No program is named like a text or a picture.', weakness(451)),
  'nested-git': error('No Git directory, whose settings can start programs, inside.', git),
  'not-analysed': warning('Everything in a skill can be read and analysed.', limit),
} as const

const capabilityRules = {
  'tool-requested': info('A tool that `allowed-tools` asks for.', `${format}#allowed-tools-field`),
  'skill-behaviour': info('A field that starts something, such as `run` or `chain`.', fields),
  hooks: info('Hooks, which an agent client runs automatically.', `${claude}/hooks`),
  'trigger-broad': info('A trigger that fires on every prompt.', 'Skillrail: triggers'),
  'embedded-command': info('A command that some clients run automatically.', `${claude}/skills`),
  script: info('A script, its language, and what starts it.', `${format}#scripts`),
  'agent-configuration': info('What decides which servers and rights an agent client has.'),
  'network-address': info('A host that is named in an address.'),
  'network-call': info('A program or function that talks to the network.'),
  'download-and-run': warning('No download goes straight into an interpreter.', weakness(494)),
  'credential-variable': info('An environment variable that is named like a secret.'),
  'credential-read': warning('Nothing reads a file that contains only secrets.', weakness(522)),
  'environment-sent': warning(
    'The environment, which contains secrets, is not sent.',
    weakness(526),
  ),
  'data-sent': warning(
    'No sentence asks to send secrets or a conversation to another machine.',
    exfiltration,
  ),
  'reverse-shell': warning('No shell for another machine.', shell),
  'persistence-written': warning('No download or hidden program starts automatically.', startup),
  'agent-configuration-written': warning(
    'No skill loosens the permissions of an agent client.',
    startup,
  ),
  destruction: warning('No command deletes a home or overwrites a disk.', destruction),
  'encoded-instructions': warning('No sentence is hidden by an encoding.', reviewSource),
  'credential-file': info('A file in which a system or a client keeps credentials.'),
  'shell-execution': info('Code that starts programs.'),
  evaluation: info('Code that runs text as code.'),
  'package-install': info('A command that installs or fetches packages.'),
  persistence: info('Something that starts later or again: services, profiles, Git hooks.'),
  privilege: info('A command that raises or loosens permissions.'),
  deletion: info('A command that deletes or overwrites without asking.'),
  'decode-and-run': warning('No decoded data goes straight into an interpreter.', decoding),
  'override-phrase': warning('No sentence overrides earlier instructions.', injection),
  'concealment-phrase': warning('No sentence asks to keep something from the user.', injection),
} as const

/** Content that should not have been published. The value itself is never shown. */
const secretRules = {
  'secret-token': error('No private key, and no key or token of a known service.', weakness(798)),
  'secret-form': warning('No header, address or JSON Web Token with a secret.', weakness(798)),
  'secret-value': info('A key that is named like a secret has a value.', weakness(798)),
} as const

export type AuditCode =
  | keyof typeof structureRules
  | keyof typeof capabilityRules
  | keyof typeof secretRules

const tables = [
  ['structure', structureRules],
  ['capability', capabilityRules],
  ['secret', secretRules],
] as const

export const auditRules = tables.flatMap(([kind, table]) =>
  Object.entries<RuleFacts>(table).map(([code, facts]) => ({ code, kind, ...facts })),
)

const rulesByCode = new Map(auditRules.map((rule) => [rule.code, rule]))

export function auditRule(code: AuditCode): (typeof auditRules)[number] {
  const rule = rulesByCode.get(code)
  if (!rule) throw new TypeError(`no audit rule is called ${code}`)
  return rule
}
